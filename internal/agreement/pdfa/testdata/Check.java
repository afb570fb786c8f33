import java.io.FileInputStream;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.flavours.PDFAFlavour;

/** Checks that files are PDF/A-3a and PDF/UA-1, with veraPDF: Check FILE ... */
class Check {
    public static void main(String[] files) throws Exception {
        VeraGreenfieldFoundryProvider.initialise();
        boolean good = files.length > 0;
        for (String file : files) {
            for (String name : new String[] {"3a", "ua1"}) {
                PDFAFlavour flavour = PDFAFlavour.byFlavourId(name);
                try (var parser = Foundries.defaultInstance().createParser(new FileInputStream(file), flavour);
                        var validator = Foundries.defaultInstance().createValidator(flavour, false)) {
                    var result = validator.validate(parser);
                    good &= result.isCompliant();
                    result.getTestAssertions().forEach(a -> System.out.println(file + ": " + name + " "
                        + a.getRuleId().getClause() + "-" + a.getRuleId().getTestNumber() + " " + a.getMessage()
                        + " " + a.getLocation().getContext()));
                }
            }
        }
        if (!good) {
            System.exit(1);
        }
        System.out.println("veraPDF: " + files.length + " files are PDF/A-3a and PDF/UA-1");
    }
}
