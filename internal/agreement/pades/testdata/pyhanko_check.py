"""Checks seals with pyHanko of PyPI: python3 pyhanko_check.py FOLDER

The files sealed*.pdf must have four good signatures, those named "altered: ..." must not."""
import contextlib, glob, io, logging, os, sys
from pyhanko.keys import load_cert_from_pemder
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.diff_analysis import ModificationLevel
from pyhanko.sign.validation import SignatureCoverageLevel, validate_pdf_signature, validate_pdf_timestamp
from pyhanko_certvalidator import ValidationContext

logging.disable(logging.CRITICAL)
folder = sys.argv[1]
roots = [load_cert_from_pemder(os.path.join(folder, name)) for name in ("ca.pem", "authority.pem")]
FIELDS = ["provider_official", "recipient_official", "seal", "timestamp"]

def good(content, draft):
    """Reports whether a file is the draft with its four signatures, each by someone trusted, and nothing else."""
    def context():
        return ValidationContext(trust_roots=roots, allow_fetching=False, revocation_mode="soft-fail")
    try:
        reader = PdfFileReader(io.BytesIO(content))
        signatures = reader.embedded_signatures
        if [s.field_name for s in signatures] != FIELDS or not content.startswith(draft):
            return False
        for s in signatures:
            if s.field_name == "timestamp":
                status = validate_pdf_timestamp(s, context())
            else:
                status = validate_pdf_signature(s, context(), context())
                if not (status.timestamp_validity and status.timestamp_validity.valid and
                        status.timestamp_validity.trusted):
                    return False
            if not (status.intact and status.valid and status.trusted and
                    status.modification_level <= ModificationLevel.FORM_FILLING):
                return False
        return status.coverage is SignatureCoverageLevel.ENTIRE_FILE  # of the last one
    except Exception:
        return False

def read(name):
    with open(os.path.join(folder, name), "rb") as f:
        return f.read()

wrong = [name for name, draft in (("sealed.pdf", "letter-short.pdf"), ("sealed-long.pdf", "letter-long.pdf"))
         if not good(read(name), read(draft))]
with open(os.path.join(folder, "served.pdf"), "rb") as f:
    content = f.read()
trusted = ValidationContext(trust_roots=[load_cert_from_pemder(os.path.join(folder, name))
                                         for name in ("served.pem", "served-authority.pem")], allow_fetching=False)
served = PdfFileReader(io.BytesIO(content)).embedded_signatures
statuses = [validate_pdf_signature(s, trusted, trusted) for s in served]
if not (content.startswith(read("served-draft.pdf")) and served[-1].field_name == "seal" and
        all(s.intact and s.valid and s.trusted for s in statuses) and statuses[-1].timestamp_validity.valid and
        statuses[-1].coverage is SignatureCoverageLevel.ENTIRE_FILE):
    wrong.append("served.pdf")
altered = sorted(os.path.basename(f) for f in glob.glob(os.path.join(folder, "altered: *.pdf")))
with contextlib.redirect_stderr(io.StringIO()):
    accepted = [name for name in altered if good(read(name), read("letter-short.pdf"))]
for name in wrong:
    print("pyHanko refuses", name)
for name in accepted:
    print("pyHanko accepts", name)
if wrong or accepted or len(altered) < 50:
    sys.exit(f"pyHanko: {len(altered)} altered files, {len(accepted)} accepted")
print(f"pyHanko: accepts 3 sealed letters, refuses {len(altered)} altered ones")
