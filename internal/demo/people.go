package demo

import "aliquot/internal/identity"

// The registry ids of the sample people. Josiah Carberry's is the iD that ORCID's documentation
// shows; the others lie where ORCID issues none, so they are nobody's.
const (
	RequesterID = "0000-0002-1825-0097"
	AdminID     = "0000-0000-0000-0909"

	requester = RequesterID
	owner     = "0000-0000-0000-0108"
	manager   = "0000-0000-0000-0204"
	postdoc   = "0000-0000-0000-0300"
	officer   = "0000-0000-0000-0407"
	neighbour = "0000-0000-0000-0503"
	member    = "0000-0000-0000-060X"
	holder    = "0000-0000-0000-0706"
	admin     = AdminID
)

// People are the sample people, the admin last; Role says what each can try.
func People() []identity.Person {
	person := func(id, given, family, mail, role string) identity.Person {
		return identity.Person{
			RegistryID: id, GivenName: given, FamilyName: family, Name: given + " " + family,
			Email: mail + "@example.org", Role: role,
		}
	}
	return []identity.Person{
		person(requester, "Josiah", "Carberry", "requester",
			"Requester: requests materials, submits documents, confirms receipt"),
		person(manager, "Mario", "Manager", "manager", "Lab manager: decides on requests, ships parcels"),
		person(postdoc, "Priya", "Postdoc", "postdoc", "Postdoc: maintains the tumour models, awaits a plasmid"),
		person(officer, "Tomas", "Transfer", "transfer", "Transfer officer: checks and countersigns agreements"),
		person(owner, "Olivia", "Owner", "owner", "Lab owner: manages members and targets, decides on stem cells"),
		person(neighbour, "Nadia", "Neighbour", "neighbour", "Owner of a second lab: offers animals, countersigns "+
			"herself"),
		person(member, "Mina", "Member", "member", "Member of the second lab: ships plasmids, requests cell lines"),
		person(holder, "Gabriel", "Grant", "grant", "Grant holder: shares data sets and protocols of funded work"),
		person(admin, "Ada", "Admin", "admin", "Admin: may do what anyone may; each use of admin rights is recorded"),
	}
}
