package config

import "github.com/alecthomas/kong"

// HelpTexts are the help texts too long for the tag of their setting, which names them as ${name}; a parser of Store,
// Server or Sources needs them among its options.
var HelpTexts = kong.Vars{
	"database": "postgres:// address, of several servers if there are standbys; without it, SQLite in the data " +
		"folder.",
	"data": "Folder of the embedded database and the files (--demo: ./aliquot-demo).",
	"files": "Where the content of files is: a folder, or a bucket of an S3 server, such as " +
		"s3://aliquot?endpoint=https://s3.example.org&region=eu-west-1 (http://... for a server without encryption; " +
		"without endpoint, AWS); its key is read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from the file " +
		"that AWS_SHARED_CREDENTIALS_FILE names, or with &keys=role is that of the role of the machine. Default: the " +
		"folder files in the data folder.",
	"files_scan": "ClamAV daemon that checks every uploaded file for viruses before anybody can open it: " +
		"clamd://127.0.0.1:3310, or its socket, such as clamd:///run/clamav/clamd.ctl. Every process needs the same. " +
		"Default: none, and files are not checked.",
	"files_hold": "Have the bucket hold executed agreements and accepted documents of requests (legal hold of Object " +
		"Lock), so that nobody can delete them. Every process needs the same. Default: it holds none.",
	"files_links": "Redirect downloads of sequence maps to the bucket, by links that work for a minute. People must " +
		"reach the bucket at its endpoint. Files of requests and agreements, and what may come from a person, are " +
		"always sent by this server. Default: every file is.",
	"secret_key": "File of the key that secrets in the database are sealed with (or, by ALIQUOT_SECRET_KEY_FILE, its " +
		"content); every process on one database needs the same, and a backup is of no use without it. " +
		"Default: secret.key in the data folder, created at first start.",
	"record_key": "File of the key that signs the log of the record; every process on one database needs the same; " +
		"keep a copy elsewhere. Default: record.key in the data folder, created at first start.",
	"seal_key": "File of the key that executed agreements are sealed with: ECDSA on the curve P-256, in PEM " +
		"(PKCS #8). Every process on one database needs the same; keep a copy elsewhere. Default: seal.key in the " +
		"data folder, created at first start.",
	"seal_certificate": "File of the certificate of seal-key, with those that it depends on behind it, in PEM. " +
		"Default: seal.pem in the data folder, created at first start; it vouches for itself.",
	"log": "Log format: text or json; auto means text on a terminal, otherwise json.",
	"public_url": "Address at which people reach the server, for links and for the host names it answers for; https " +
		"unless it is a loopback address. Default: derived from addr if that is a loopback address.",
	"access": "Who may write materials and organizations: open (as the specification states, no token) or members. " +
		"Default: open where addr and public-url are both loopback addresses; else it must be set.",
	"identity": "Issuer of an OpenID Connect provider, https://orcid.org for ORCID, or demo for the built-in one " +
		"(--demo: demo), which works on loopback addresses only. Without it, no one can sign in.",
	"identity_providers": "JSON file of further OpenID Connect providers, such as those of universities; see " +
		"deploy.md. People link their sign-ins there to their accounts. Default: none.",
	"affiliation_lifetime": "After how many days an affiliation that an identity provider asserted at a sign-in " +
		"lapses without another one. 0: never.",
	"document_types": "application/pdf,image/png,image/jpeg,image/tiff",
	"document_types_help": "Media types that the pages accept for signed MTAs, executed MTAs and IRB documents; a " +
		"template of an MTA may also be a Word document. any: every file. The API accepts every file.",
	"registration": "Who may register: open, closed, or a list of registry ids and mail domains.",
	"quota_user":   "Storage quota of a user's files, including deleted files that are still kept.",
	"quota_lab":    "Storage quota of a lab's files, including deleted files that are still kept.",
	"cors_origins": "Origins whose pages may call the API from a browser, such as https://lab.example.org; * for " +
		"any. Default: none.",
	"trusted_proxies": "Addresses or networks (CIDR) of reverse proxies whose Forwarded and X-Forwarded-For are " +
		"trusted, such as 10.0.0.0/8,fd00::1. Default: none, and these headers are ignored.",
	"rate_limit": "Rate limits per user and address; off is for load tests.",
	"mail": "Mail server: smtp://user:password@host:port (STARTTLS) or smtps://... (TLS), or file:FOLDER to write " +
		"each message to a file; use ALIQUOT_MAIL_FILE if it contains a password. Default: messages are " +
		"written to the folder mails in the data folder.",
	"destinations": "CSV file of countries and parties to which nothing must go, with the columns list, published, " +
		"source, country and party; it is read at start. Default: none.",
	"mail_from": "Sender of messages, such as Aliquot <aliquot@example.org>; bounces go to this address. Default: " +
		"aliquot at the host of public-url.",
	"reminders":  "Days of a turn on which its side is reminded; after the last, every 30 days. 0: never.",
	"escalation": "After how many days of waiting for the lab its owner is notified. 0: never.",
	"webhook_private": "Allow webhooks to private addresses and over http. Use only if every owner of an " +
		"organization may reach what this machine reaches. Default: only https to public addresses.",
	"tsa_url": "Address of a timestamping authority (RFC 3161), which is asked for a timestamp of each checkpoint of " +
		"the log. Default: none.",
	"witnesses": "Witnesses that are asked to cosign each checkpoint of the log (C2SP tlog-witness), each as its " +
		"public key, @, and its address: witness.example.org+0a1b2c3d+BASE64@https://witness.example.org. " +
		"Default: none.",
	"role": "What this process does: web serves requests, worker runs background jobs, all does both.",
	"workers": "How many background jobs this process runs at once; in addition, as many webhook messages (at most a " +
		"quarter of them for one lab), and half as many spreadsheets and import lists (one at a time per " +
		"person).",
	"otlp_endpoint": "Base address of a collector of OpenTelemetry that takes traces by OTLP over HTTP, such as " +
		"http://127.0.0.1:4318. The standard variables OTEL_... count as well. Default: none.",
	"standby_reads": "Search on standbys of PostgreSQL, which are among the servers of database, while they have all " +
		"that was written.",
	"stop_delay": "How long a process that is asked to stop still answers, while /readyz says 503 and load balancers " +
		"learn of it. Default: not at all.",
	"slow_query": "How long a statement of the database may take before it is logged, without the values in it. 0: " +
		"none is.",
	"metrics_addr": "Listening address for operators alone, such as 127.0.0.1:9464: metrics of Prometheus at " +
		"/metrics, and profiles of Go under /debug/pprof/, which show what is in memory. Port 0 picks a free port. " +
		"Default: none.",
	"job_lease":     "How long after a process dies another takes over its background jobs.",
	"geo_url":       "Base address of GEO. Default: the public one, https://www.ncbi.nlm.nih.gov/geo/.",
	"eutils_url":    "Base address of NCBI E-utilities. Default: https://eutils.ncbi.nlm.nih.gov/entrez/eutils/.",
	"protocols_url": "Base address of protocols.io. Default: https://www.protocols.io/.",
	"protocols_token": "Client access token of protocols.io; without it, title and citation of a protocol come from " +
		"Crossref.",
	"contact_email": "Contact address sent to the public sources, as they request. Default: postmaster at the host " +
		"of public-url.",
}
