package exchange_test

import (
	"slices"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
)

// ofNoObject lists the actions in which a token of one lab sees, or creates, only what belongs to that lab.
var ofNoObject = []exchange.Action{exchange.UserRead, exchange.MaterialPreview, exchange.PublicationRead,
	exchange.AttachmentCreate, exchange.RequestList}

func TestScope_LeavesATokenNothingThatItsUserMayNot(t *testing.T) {
	t.Parallel()
	for _, access := range []exchange.Access{exchange.AccessOpen, exchange.AccessMembers} {
		policy := exchange.PolicyFor(access)
		for action := range policy {
			for name, object := range objects {
				for _, c := range actors {
					if c.actor.Anonymous() {
						continue
					}
					whole, _ := policy.Can(action, object(c.actor))
					only := func(scope exchange.Scope, lab int64) bool {
						limited := c.actor
						limited.Organizations, limited.Owns = slices.Clone(limited.Organizations),
							slices.Clone(limited.Owns)
						limited.Scope, limited.Lab = scope, lab
						may, _ := policy.Can(action, object(limited.Bound()))
						return may
					}
					write, read, here, elsewhere := only(exchange.ScopeWrite, 0), only(exchange.ScopeRead, 0),
						only(exchange.ScopeWrite, lab), only(exchange.ScopeWrite, 99)
					free := action == exchange.Login || action == exchange.Register || action == exchange.Logout
					if write != whole || read != (whole && (action.Reads() || free)) || here && !whole {
						t.Errorf("%s: %s on %s by %s: login %v, write %v, read %v, this lab %v", access, action, name,
							c.name, whole, write, read, here)
					}
					anybody, _ := policy.Can(action, object(exchange.Actor{}))
					if elsewhere && !free && !(anybody && action.Reads()) && !slices.Contains(ofNoObject, action) {
						t.Errorf("%s: %s on %s by %s with a token of another lab", access, action, name, c.name)
					}
				}
			}
		}
	}
}

func TestScope_ATokenMakesNoneThatIsMoreThanItself(t *testing.T) {
	t.Parallel()
	now := time.Now()
	token := func(scope exchange.Scope, lab *int64, days int) person.Token {
		return person.Token{Scope: scope, Organization: lab, ExpiresAt: now.AddDate(0, 0, days)}
	}
	one, two := new(int64(1)), new(int64(2))
	for _, c := range []struct {
		by, made person.Token
		want     bool
	}{
		{token("", nil, 1), token(exchange.ScopeWrite, nil, 300), true}, // a login
		{token(exchange.ScopeWrite, nil, 9), token(exchange.ScopeWrite, nil, 9), true},
		{token(exchange.ScopeWrite, nil, 9), token(exchange.ScopeRead, one, 5), true},
		{token(exchange.ScopeWrite, nil, 9), token(exchange.ScopeRead, nil, 10), false},
		{token(exchange.ScopeRead, nil, 9), token(exchange.ScopeWrite, nil, 9), false},
		{token(exchange.ScopeWrite, one, 9), token(exchange.ScopeWrite, one, 9), true},
		{token(exchange.ScopeWrite, one, 9), token(exchange.ScopeWrite, two, 9), false},
		{token(exchange.ScopeWrite, one, 9), token(exchange.ScopeRead, nil, 9), false},
	} {
		if got := c.by.Allows(c.made); got != c.want {
			t.Errorf("%+v makes %+v: %v", c.by, c.made, got)
		}
	}
}

// writes lists the actions that a read-only token never does.
var writes = []exchange.Action{
	exchange.Login, exchange.Register, exchange.Logout, exchange.UserUpdate, exchange.UserClose, exchange.UserErase,
	exchange.NotificationMark, exchange.MailSettingsWrite,
	exchange.SavedSearchWrite, exchange.DraftWrite, exchange.BasketWrite, exchange.TokenCreate, exchange.TokenRevoke,
	exchange.PasskeyWrite, exchange.PasskeyUse,
	exchange.OrganizationCreate,
	exchange.OrganizationUpdate, exchange.InvitationWrite, exchange.InvitationAnswer, exchange.InvitationTake,
	exchange.JoinAsk,
	exchange.JoinAnswer, exchange.JoinWithdraw, exchange.SettingsUpdate, exchange.OrganizationPublish, exchange.OrganizationSign,
	exchange.OrganizationLeave,
	exchange.ReplyWrite, exchange.WebhookWrite, exchange.MaterialCreate, exchange.MaterialUpdate, exchange.MaterialArchive,
	exchange.MaterialBulk,
	exchange.MaterialImport, exchange.MaterialState, exchange.ShippingWrite, exchange.AttachmentCreate, exchange.AttachmentUpdate,
	exchange.AttachmentReplace,
	exchange.AttachmentDelete, exchange.RequestCreate, exchange.RequestUpdate, exchange.RequestShip,
	exchange.RequestPurpose, exchange.RequestDelete, exchange.InquiryCreate, exchange.InquiryAnswer,
	exchange.InstitutionCreate, exchange.InstitutionUpdate, exchange.InstitutionConfirm,
	exchange.InstitutionLabClaim, exchange.InstitutionLabUpdate, exchange.AffiliationWrite, exchange.AuthorityWrite,
	exchange.MasterWrite, exchange.PlaybookWrite, exchange.ApprovalWrite, exchange.ApprovalSign, exchange.SignatoryImport, exchange.AgreementCreate, exchange.AgreementSign,
	exchange.AgreementWrite, exchange.PermitWrite, exchange.PermitUse, exchange.DutyDecide, exchange.DutySettle,
	exchange.AddressWrite, exchange.GrantCreate, exchange.GrantUpdate, exchange.GrantShare, exchange.MaterialFund,
	exchange.JobCancel,
	exchange.JobRetry, exchange.UserAdmin,
}

func TestScope_EveryActionReadsOrWrites(t *testing.T) {
	t.Parallel()
	for action := range exchange.PolicyFor(exchange.AccessMembers) {
		if action.Reads() == slices.Contains(writes, action) {
			t.Errorf("decide whether %s only reads (reads in actor.go, writes here), and whether a token of one lab "+
				"may do it", action)
		}
	}
}
