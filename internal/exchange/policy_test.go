package exchange_test

import (
	"slices"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

// lab is the organization that the objects of the matrix belong to.
const lab = 7

// actors are the columns of the matrix. The assignee is a member and not an owner; a former member has left.
var actors = []struct {
	name  string
	actor exchange.Actor
}{
	{"anonymous", exchange.Actor{}},
	{"stranger", exchange.Actor{ID: exchangetest.StrangerID, Organizations: []int64{50}, Owns: []int64{50}}},
	{"member", exchange.Actor{ID: exchangetest.MemberID, Organizations: []int64{lab, 51}, Owns: []int64{51}}},
	{"owner", exchange.Actor{ID: exchangetest.OwnerID, Organizations: []int64{lab}, Owns: []int64{lab}}},
	{"requester", exchange.Actor{ID: exchangetest.RequesterID, Organizations: []int64{52}, Owns: []int64{52}}},
	{"assignee", exchange.Actor{ID: assigneeID, Organizations: []int64{53, lab}, Owns: []int64{53}}},
	{"former", exchange.Actor{ID: formerID, Organizations: []int64{54}, Owns: []int64{54}}},
	{"admin", exchange.Actor{ID: exchangetest.AdminID, Admin: true, Organizations: []int64{55}, Owns: []int64{55}}},
}

var (
	assigneeID = uuid.MustParse("01890000-0000-7000-8000-000000000006")
	formerID   = uuid.MustParse("01890000-0000-7000-8000-000000000007")
)

// objects returns the relations of an actor to each sample object.
var objects = map[string]func(exchange.Actor) exchange.Relation{
	"nothing": func(a exchange.Actor) exchange.Relation { return a.ToUser(a.ID) },
	// and what belongs to them alone
	"the owner": func(a exchange.Actor) exchange.Relation { return a.ToUser(exchangetest.OwnerID) },
	// The owner is its officer.
	"an institution": func(a exchange.Actor) exchange.Relation { return a.ToInstitution(a.Is(exchangetest.OwnerID)) },
	// For a request; the owner is an officer of its institution too.
	"a letter": func(a exchange.Actor) exchange.Relation {
		return a.ToInstitution(a.Is(exchangetest.OwnerID)) |
			(request.Request{Requester: exchangetest.RequesterID}).RelationsOf(a, lab)
	},
	"the lab": func(a exchange.Actor) exchange.Relation { return a.ToOrganization(lab) },
	"a request": func(a exchange.Actor) exchange.Relation {
		return (request.Request{Requester: exchangetest.RequesterID, AssignedTo: assigneeID}).RelationsOf(a, lab)
	},
	// A former member's request for the lab's material, which they made and were assigned to.
	"a former's request": func(a exchange.Actor) exchange.Relation {
		return (request.Request{Requester: formerID, AssignedTo: formerID}).RelationsOf(a, lab)
	},
	// The owner's own file, which nothing refers to.
	"a private file": func(a exchange.Actor) exchange.Relation {
		return (document.Attachment{OwnedByUser: new(exchangetest.OwnerID)}).RelationsOf(a, false, false)
	},
	"the lab's file": func(a exchange.Actor) exchange.Relation {
		return (document.Attachment{OwnedByOrg: new(int64(lab))}).RelationsOf(a, false, false)
	},
	"a file that a former member filed": func(a exchange.Actor) exchange.Relation {
		return (document.Attachment{OwnedByUser: new(formerID), OwnedByOrg: new(int64(lab)),
			OfLab: true}).RelationsOf(a,
			false, false)
	},
	// The owner's signature on the requester's request: both are parties.
	"a linked file": func(a exchange.Actor) exchange.Relation {
		return (document.Attachment{OwnedByUser: new(exchangetest.OwnerID)}).RelationsOf(a,
			a.Is(exchangetest.RequesterID) || a.MemberOf(lab),
			false)
	},
	// The blank MTA that a listed material shows.
	"a listed file": func(a exchange.Actor) exchange.Relation {
		return (document.Attachment{OwnedByUser: new(exchangetest.OwnerID)}).RelationsOf(a, false, true)
	},
}

// matrix is who may do what, from the specification's access columns and contract.md sections 3 to 6. access "both"
// marks a rule that does not depend on the setting.
const matrix = `
| access | action | object | anonymous | stranger | member | owner | requester | assignee | former | admin |
| both | login | nothing | y | y | y | y | y | y | y | y |
| both | register | nothing | y | y | y | y | y | y | y | y |
| both | logout | nothing | n | y | y | y | y | y | y | y |
| both | user.read | the owner | n | y | y | y | y | y | y | y |
| both | user.read-private | the owner | n | n | n | y | n | n | n | y |
| both | user.close | the owner | n | n | n | y | n | n | n | y |
| both | user.erase | the owner | n | n | n | y | n | n | n | y |
| both | user.update | the owner | n | n | n | y | n | n | n | y |
| both | notification.read | the owner | n | n | n | y | n | n | n | y |
| both | notification.mark | the owner | n | n | n | y | n | n | n | y |
| both | mail-settings.read | the owner | n | n | n | y | n | n | n | y |
| both | mail-settings.write | the owner | n | n | n | y | n | n | n | y |
| both | draft.read | the owner | n | n | n | y | n | n | n | y |
| both | draft.write | the owner | n | n | n | y | n | n | n | y |
| both | basket.read | the owner | n | n | n | y | n | n | n | y |
| both | basket.write | the owner | n | n | n | y | n | n | n | y |
| both | account.export | the owner | n | n | n | y | n | n | n | y |
| both | token.create | nothing | n | y | y | y | y | y | y | y |
| both | token.read | the owner | n | n | n | y | n | n | n | y |
| both | token.revoke | the owner | n | n | n | y | n | n | n | y |
| both | passkey.read | the owner | n | n | n | y | n | n | n | y |
| both | passkey.use | the owner | n | n | n | y | n | n | n | y |
| both | passkey.write | the owner | n | n | n | y | n | n | n | y |
| both | settings.read | the owner | n | n | n | y | n | n | n | y |
| both | settings.update | the owner | n | n | n | y | n | n | n | y |
| both | saved-search.read | the owner | n | n | n | y | n | n | n | y |
| both | saved-search.write | the owner | n | n | n | y | n | n | n | y |
| both | address.read | the owner | n | n | n | y | n | n | n | y |
| both | address.write | the owner | n | n | n | y | n | n | n | y |
| open | organization.create | nothing | y | y | y | y | y | y | y | y |
| members | organization.create | nothing | n | y | y | y | y | y | y | y |
| both | organization.read | the lab | y | y | y | y | y | y | y | y |
| open | organization.update | the lab | y | y | y | y | y | y | y | y |
| members | organization.update | the lab | n | n | n | y | n | n | n | y |
| both | organization.grants | the lab | n | n | y | y | n | y | n | y |
| both | invitation.read | the lab | n | n | y | y | n | y | n | y |
| both | invitation.write | the lab | n | n | n | y | n | n | n | y |
| both | invitation.answer | the owner | n | n | n | y | n | n | n | y |
| both | agreement.open | nothing | y | y | y | y | y | y | y | y |
| both | invitation.open | nothing | y | y | y | y | y | y | y | y |
| both | invitation.take | nothing | n | y | y | y | y | y | y | y |
| both | join.ask | the lab | n | y | y | y | y | y | y | y |
| both | join.read | the lab | n | n | n | y | n | n | n | y |
| both | join.read | the owner | n | n | n | y | n | n | n | y |
| both | join.answer | the lab | n | n | n | y | n | n | n | y |
| both | join.withdraw | the owner | n | n | n | y | n | n | n | y |
| open | material.create | the lab | y | y | y | y | y | y | y | y |
| members | material.create | the lab | n | n | y | y | n | y | n | y |
| both | material.read | the lab | y | y | y | y | y | y | y | y |
| both | material.foresee | the lab | n | n | y | y | n | y | n | y |
| both | material.private | a request | n | n | y | y | y | y | n | y |
| both | organization.publish | the lab | n | n | n | y | n | n | n | y |
| both | organization.sign | the lab | n | n | n | y | n | n | n | y |
| open | material.update | the lab | y | y | y | y | y | y | y | y |
| members | material.update | the lab | n | n | y | y | n | y | n | y |
| both | organization.history | the lab | n | n | y | y | n | y | n | y |
| both | organization.events | the lab | n | n | y | y | n | y | n | y |
| both | organization.insights | the lab | n | n | y | y | n | y | n | y |
| both | organization.storage | the lab | n | n | y | y | n | y | n | y |
| both | organization.leave | the lab | n | n | y | y | n | y | n | y |
| both | inquiry.create | nothing | n | y | y | y | y | y | y | y |
| both | inquiry.read | the lab | n | n | y | y | n | y | n | y |
| both | inquiry.read | the owner | n | n | n | y | n | n | n | y |
| both | inquiry.answer | the lab | n | n | y | y | n | y | n | y |
| both | reply.read | the lab | n | n | y | y | n | y | n | y |
| both | reply.write | the lab | n | n | y | y | n | y | n | y |
| both | webhook.read | the lab | n | n | y | y | n | y | n | y |
| both | webhook.write | the lab | n | n | n | y | n | n | n | y |
| both | material.history | the lab | n | n | y | y | n | y | n | y |
| both | material.bulk | the lab | n | n | y | y | n | y | n | y |
| both | material.template | the lab | n | n | y | y | n | y | n | y |
| both | material.export | the lab | n | n | y | y | n | y | n | y |
| both | documentation.read | nothing | y | y | y | y | y | y | y | y |
| both | search.read | nothing | y | y | y | y | y | y | y | y |
| both | log.read | nothing | y | y | y | y | y | y | y | y |
| both | audit.read | nothing | n | n | n | n | n | n | n | y |
| both | admin.read | nothing | n | n | n | n | n | n | n | y |
| both | user.admin | the owner | n | n | n | n | n | n | n | y |
| both | material.archive | the lab | n | n | y | y | n | y | n | y |
| both | material.state | the lab | n | n | y | y | n | y | n | y |
| both | material.lineage | the lab | n | n | y | y | n | y | n | y |
| both | material.import | the lab | n | n | y | y | n | y | n | y |
| both | agreement.resolve | nothing | y | y | y | y | y | y | y | y |
| both | material.preview | nothing | n | y | y | y | y | y | y | y |
| both | publication.read | nothing | n | y | y | y | y | y | y | y |
| both | shipping.read | the lab | y | y | y | y | y | y | y | y |
| both | shipping.write | the lab | n | n | y | y | n | y | n | y |
| both | institution.create | nothing | n | y | y | y | y | y | y | y |
| both | institution.read | nothing | y | y | y | y | y | y | y | y |
| both | institution.update | an institution | n | n | n | y | n | n | n | y |
| both | institution.update | the owner | n | n | n | y | n | n | n | y |
| both | institution.confirm | an institution | n | n | n | y | n | n | n | y |
| both | institution.confirm | the owner | n | n | n | n | n | n | n | y |
| both | institution-lab.claim | the lab | n | n | n | y | n | n | n | y |
| both | institution-lab.claim | an institution | n | n | n | n | n | n | n | y |
| both | institution-lab.update | the lab | n | n | n | y | n | n | n | y |
| both | institution-lab.update | an institution | n | n | n | y | n | n | n | y |
| both | affiliation.read | nothing | n | y | y | y | y | y | y | y |
| both | affiliation.write | an institution | n | n | n | y | n | n | n | y |
| both | affiliation.write | the owner | n | n | n | y | n | n | n | y |
| both | authority.read | an institution | n | n | n | y | n | n | n | y |
| both | authority.write | an institution | n | n | n | y | n | n | n | y |
| both | authority.write | the owner | n | n | n | n | n | n | n | y |
| both | playbook.read | an institution | n | n | n | y | n | n | n | y |
| both | playbook.write | an institution | n | n | n | y | n | n | n | y |
| both | approval.write | an institution | n | n | n | y | n | n | n | y |
| both | approval.sign | an institution | n | n | n | y | n | n | n | y |
| both | master.write | an institution | n | n | n | y | n | n | n | y |
| both | signatory.read | nothing | y | y | y | y | y | y | y | y |
| both | instrument.read | nothing | y | y | y | y | y | y | y | y |
| both | signatory.import | an institution | n | n | n | n | n | n | n | y |
| both | permit.list | nothing | n | y | y | y | y | y | y | y |
| both | permit.read | the lab | n | n | y | y | n | y | n | y |
| both | permit.read | the owner | n | n | n | y | n | n | n | y |
| both | permit.read | an institution | n | n | n | y | n | n | n | y |
| both | permit.write | the lab | n | n | y | y | n | y | n | y |
| both | permit.write | the owner | n | n | n | y | n | n | n | y |
| both | permit.write | an institution | n | n | n | y | n | n | n | y |
| both | permit.use | the lab | n | n | y | y | n | y | n | y |
| both | permit.use | the owner | n | n | n | y | n | n | n | y |
| both | permit.use | an institution | n | n | n | y | n | n | n | y |
| both | agreement.create | a letter | n | n | y | y | y | y | n | y |
| both | agreement.needs | an institution | n | n | n | y | n | n | n | y |
| both | agreement.list | nothing | n | y | y | y | y | y | y | y |
| both | agreement.read | a letter | n | n | y | y | y | y | n | y |
| both | agreement.sign | a letter | n | n | y | y | y | y | n | y |
| both | agreement.write | a letter | n | n | y | y | y | y | n | y |
| both | duty.decide | a letter | n | n | y | y | n | y | n | y |
| both | duty.settle | a letter | n | n | y | y | y | y | n | y |
| both | grant.create | nothing | n | y | y | y | y | y | y | y |
| both | grant.list | nothing | n | y | y | y | y | y | y | y |
| both | grant.read | the owner | n | n | n | y | n | n | n | y |
| both | grant.update | the owner | n | n | n | y | n | n | n | y |
| both | grant.share | the owner | n | n | n | y | n | n | n | y |
| both | grant.report | nothing | y | y | y | y | y | y | y | y |
| both | material.fund | the lab | n | n | y | y | n | y | n | y |
| both | attachment.create | nothing | n | y | y | y | y | y | y | y |
| both | attachment.list | nothing | n | n | n | n | n | n | n | y |
| both | attachment.read | a private file | n | n | n | y | n | n | n | y |
| both | attachment.read | the lab's file | n | n | y | y | n | y | n | y |
| both | attachment.read | a linked file | n | n | y | y | y | y | n | y |
| both | attachment.read | a listed file | n | n | n | y | n | n | n | y |
| both | attachment.content | a private file | n | n | n | y | n | n | n | y |
| both | attachment.content | the lab's file | n | n | y | y | n | y | n | y |
| both | attachment.content | a linked file | n | n | y | y | y | y | n | y |
| both | attachment.content | a listed file | y | y | y | y | y | y | y | y |
| both | attachment.update | a private file | n | n | n | y | n | n | n | y |
| both | attachment.update | the lab's file | n | n | y | y | n | y | n | y |
| both | attachment.update | a linked file | n | n | n | y | n | n | n | y |
| both | attachment.update | a listed file | n | n | n | y | n | n | n | y |
| both | attachment.replace | a private file | n | n | n | y | n | n | n | y |
| both | attachment.replace | the lab's file | n | n | y | y | n | y | n | y |
| both | attachment.replace | a linked file | n | n | n | y | n | n | n | y |
| both | attachment.replace | a listed file | n | n | n | y | n | n | n | y |
| both | attachment.read | a file that a former member filed | n | n | y | y | n | y | n | y |
| both | attachment.content | a file that a former member filed | n | n | y | y | n | y | n | y |
| both | attachment.update | a file that a former member filed | n | n | y | y | n | y | n | y |
| both | attachment.replace | a file that a former member filed | n | n | y | y | n | y | n | y |
| both | attachment.delete | a file that a former member filed | n | n | y | y | n | y | n | y |
| both | attachment.delete | a private file | n | n | n | y | n | n | n | y |
| both | attachment.delete | the lab's file | n | n | y | y | n | y | n | y |
| both | attachment.delete | a linked file | n | n | n | y | n | n | n | y |
| both | attachment.delete | a listed file | n | n | n | y | n | n | n | y |
| both | request.create | nothing | n | y | y | y | y | y | y | y |
| both | request.list | nothing | n | y | y | y | y | y | y | y |
| both | request.read | a request | n | n | y | y | y | y | n | y |
| both | request.read | a former's request | n | n | y | y | n | y | y | y |
| both | request.update | a request | n | n | y | y | y | y | n | y |
| both | request.update | a former's request | n | n | y | y | n | y | y | y |
| both | request.ship | a request | n | n | y | y | n | y | n | y |
| both | request.ship | a former's request | n | n | y | y | n | y | n | y |
| both | request.purpose | a request | n | n | n | n | y | n | n | y |
| both | request.delete | a request | n | n | n | n | n | n | n | y |
| both | job.read | the owner | n | n | n | y | n | n | n | y |
| both | job.list | nothing | n | y | y | y | y | y | y | y |
| both | job.list-all | nothing | n | n | n | n | n | n | n | y |
| both | job.cancel | the owner | n | n | n | y | n | n | n | y |
| both | job.retry | the owner | n | n | n | n | n | n | n | y |`

func TestPolicy_IsTheContracts(t *testing.T) {
	t.Parallel()
	table := exchangetest.Rows(matrix)
	for _, access := range []exchange.Access{exchange.AccessOpen, exchange.AccessMembers} {
		t.Run(string(access), func(t *testing.T) {
			t.Parallel()
			policy, seen := exchange.PolicyFor(access), map[exchange.Action]bool{}
			open := map[exchange.Action]bool{}
			for _, row := range table[1:] {
				if len(row) != len(table[0]) || len(row) != 3+len(actors) {
					t.Fatalf("row %v: got %d cells, want %d", row, len(row), 3+len(actors))
				}
				action, relations := exchange.Action(row[1]), objects[row[2]]
				if _, ok := policy[action]; !ok || relations == nil ||
					!slices.Contains([]string{"both", "open", "members"}, row[0]) {
					t.Fatalf("row %v: an unknown access, action or object", row[:3])
				}
				if row[0] != "both" && row[0] != string(access) {
					continue
				}
				seen[action] = true
				open[action] = open[action] || row[3] == "y"
				for i, a := range actors {
					cell := row[3+i]
					if table[0][3+i] != a.name || cell != "y" && cell != "n" {
						t.Fatalf("row %v, column %s: got %q, want y or n", row[:3], a.name, cell)
					}
					if ok, _ := policy.Can(action, relations(a.actor)); ok != (cell == "y") {
						t.Errorf("%s does %s with %s: got %t, want %s", a.name, action, row[2], ok, cell)
					}
				}
			}
			for action := range policy {
				if !seen[action] {
					t.Errorf("no row for %s", action)
				}
				if got := policy.NeedsToken(action); got == open[action] {
					t.Errorf("%s: got needs a token %t, but anonymous may: %t", action, got, open[action])
				}
			}
		})
	}
}

// What an admin does only because of being an admin is an audit event; what anybody else in their place could do is
// not.
func TestPolicy_AdminRoleIsUsedOnlyWhereNothingElseAllows(t *testing.T) {
	t.Parallel()
	for _, access := range []exchange.Access{exchange.AccessOpen, exchange.AccessMembers} {
		policy := exchange.PolicyFor(access)
		for action := range policy {
			for name, relations := range objects {
				for _, a := range actors {
					plain, power := a.actor, a.actor
					plain.Admin, power.Admin = false, !a.actor.Anonymous()
					byRight, asAdmin := policy.Can(action, relations(plain))
					if asAdmin {
						t.Errorf("%s does %s with %s: got as admin, who is none", a.name, action, name)
					}
					if ok, asAdmin := policy.Can(action, relations(power)); asAdmin != (ok && !byRight) {
						t.Errorf("%s, made admin, does %s with %s: got as admin %t, by right %t", a.name, action, name,
							asAdmin, byRight)
					}
				}
			}
		}
	}
}

func TestPolicy_UnknownActionIsForAdmins(t *testing.T) {
	t.Parallel()
	policy := exchange.PolicyFor(exchange.AccessOpen)
	for _, a := range actors {
		if ok, _ := policy.Can("disk.format", a.actor.ToOrganization(lab)); ok != a.actor.Admin {
			t.Errorf("%s: got %t", a.name, ok)
		}
	}
	if !policy.NeedsToken("disk.format") {
		t.Error("got no token needed for an unknown action")
	}
}

func TestPolicy_SettingIsPerInstallation(t *testing.T) {
	t.Parallel()
	strict := exchange.PolicyFor(exchange.AccessMembers)
	strict[exchange.Login] = exchange.AdminOf
	if ok, _ := exchange.PolicyFor(exchange.AccessOpen).Can(exchange.Login, exchange.Anyone); !ok {
		t.Error("a change of one policy changed the next")
	}
}

func TestPolicy_AnonymousHasNoRelation(t *testing.T) {
	t.Parallel()
	var a exchange.Actor
	if a.Is(uuid.Nil) || a.ToUser(uuid.Nil) != exchange.Anyone ||
		(request.Request{}).RelationsOf(a, 0) != exchange.Anyone {
		t.Error("an anonymous caller is taken for the user without an id")
	}
	if rel := (document.Attachment{OwnedByUser: new(uuid.Nil), OwnedByOrg: new(int64(0))}).RelationsOf(a, false,
		false); rel != exchange.Anyone {
		t.Errorf("got relations %b to a file, want none", rel)
	}
}

func TestPolicy_RolesOfARequestFollowItsRelations(t *testing.T) {
	t.Parallel()
	r := request.Request{Requester: exchangetest.RequesterID, AssignedTo: assigneeID}
	want := map[string]request.Roles{
		"member": {Member: true}, "owner": {Member: true}, "assignee": {Member: true}, "requester": {Requester: true},
		"admin": {Admin: true},
	}
	for _, a := range actors {
		if got := request.RolesOf(r.RelationsOf(a.actor, lab)); got != want[a.name] {
			t.Errorf("%s: got %+v, want %+v", a.name, got, want[a.name])
		}
	}
	both := exchange.Actor{ID: exchangetest.RequesterID, Organizations: []int64{lab}}
	if got, want := request.RolesOf(r.RelationsOf(both, lab)),
		(request.Roles{Requester: true, Member: true}); got != want {
		t.Errorf("a member who asks their own lab: got %+v, want %+v", got, want)
	}
	if rel := r.RelationsOf((exchange.Actor{ID: exchangetest.OwnerID, Organizations: []int64{lab}, Owns: []int64{lab}}),
		lab); rel&exchange.OwnerOf != 0 {
		t.Errorf("the owner of the lab: got relations %b, but a request has no owner", rel)
	}
}
