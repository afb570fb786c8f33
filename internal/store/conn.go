package store

import (
	"time"
)

// Conn holds one store for each kind of object. All of them use the same connection: a transaction, or the pool for
// reading. Now is fixed when the Conn is created, so that all rows written in one transaction have the same time.
type Conn struct {
	Now  time.Time
	conn *conn

	Actors          Actors
	Addresses       Addresses
	Admin           Admin
	Alerts          Alerts
	Attachments     Attachments
	Audit           Audit
	Bulk            Bulk
	Closing         Closing
	Deliveries      Deliveries
	Drafts          Drafts
	Events          Events
	Grants          Grants
	IdempotentCalls IdempotentCalls
	Inbox           Inbox
	Insights        Insights
	Invitations     Invitations
	Jobs            Jobs
	JoinRequests    JoinRequests
	Mail            Mail
	Materials       Materials
	Memberships     Memberships
	Notifications   Notifications
	Organizations   Organizations
	Reminders       Reminders
	Requests        Requests
	SavedSearches   SavedSearches
	Search          Search
	Secrets         Secrets
	Shippings       Shippings
	Storage         Storage
	Tokens          Tokens
	Turns           Turns
	Users           Users
	Webhooks        Webhooks
}

func storesOn(c *conn) Conn {
	return Conn{
		Now: c.Now, conn: c,
		Actors: Actors{c}, Addresses: Addresses{c}, Admin: Admin{c}, Alerts: Alerts{c},
		Attachments: Attachments{c}, Audit: Audit{c}, Bulk: Bulk{c}, Closing: Closing{c},
		Deliveries: Deliveries{c}, Drafts: Drafts{c}, Events: Events{c}, Grants: Grants{c},
		IdempotentCalls: IdempotentCalls{c}, Inbox: Inbox{c}, Insights: Insights{c}, Invitations: Invitations{c},
		Jobs: Jobs{c}, JoinRequests: JoinRequests{c}, Mail: Mail{c}, Materials: Materials{c},
		Memberships: Memberships{c}, Notifications: Notifications{c}, Organizations: Organizations{c},
		Reminders: Reminders{c},
		Requests:  Requests{c}, SavedSearches: SavedSearches{c}, Search: Search{c}, Secrets: Secrets{c},
		Shippings: Shippings{c}, Storage: Storage{c}, Tokens: Tokens{c}, Turns: Turns{c},
		Users: Users{c}, Webhooks: Webhooks{c},
	}
}

// At returns the stores on the same connection at another time.
func (c Conn) At(now time.Time) Conn { return storesOn(c.conn.at(now)) }

// The stores. Each holds the statements on one kind of object.
type (
	// Actors stores who acts: the rights of tokens and users.
	Actors struct{ conn *conn }
	// Addresses stores addresses of users.
	Addresses struct{ conn *conn }
	// Admin stores what administrators look after.
	Admin struct{ conn *conn }
	// Alerts stores what changed, and which saved searches it matches.
	Alerts struct{ conn *conn }
	// Attachments stores attachments and their versions.
	Attachments struct{ conn *conn }
	// Audit stores audit events and the versions of objects.
	Audit struct{ conn *conn }
	// Bulk stores imports of many materials, and what they stage.
	Bulk struct{ conn *conn }
	// Closing stores what closing an account or an organization changes.
	Closing struct{ conn *conn }
	// Deliveries stores deliveries to webhooks.
	Deliveries struct{ conn *conn }
	// Drafts stores drafts of forms.
	Drafts struct{ conn *conn }
	// Events stores events of requests.
	Events struct{ conn *conn }
	// Grants stores grants, what they fund, and links to their reports.
	Grants struct{ conn *conn }
	// IdempotentCalls stores calls with an Idempotency-Key and their responses.
	IdempotentCalls struct{ conn *conn }
	// Inbox stores the requests in which it is somebody's turn.
	Inbox struct{ conn *conn }
	// Insights stores daily counts of an organization.
	Insights struct{ conn *conn }
	// Invitations stores invitations to organizations.
	Invitations struct{ conn *conn }
	// Jobs stores the queue of jobs.
	Jobs struct{ conn *conn }
	// JoinRequests stores requests to join an organization.
	JoinRequests struct{ conn *conn }
	// Mail stores who wants which mail, and what is still to be mailed.
	Mail struct{ conn *conn }
	// Materials stores materials.
	Materials struct{ conn *conn }
	// Memberships stores memberships of users.
	Memberships struct{ conn *conn }
	// Notifications stores notifications and announcements.
	Notifications struct{ conn *conn }
	// Organizations stores organizations and their members.
	Organizations struct{ conn *conn }
	// Reminders stores reminders of requests that wait.
	Reminders struct{ conn *conn }
	// Requests stores requests, their documents and issues.
	Requests struct{ conn *conn }
	// SavedSearches stores saved searches.
	SavedSearches struct{ conn *conn }
	// Search stores search for materials, organizations and users.
	Search struct{ conn *conn }
	// Secrets stores secrets that are sealed with the key of the database.
	Secrets struct{ conn *conn }
	// Shippings stores shipping requirements.
	Shippings struct{ conn *conn }
	// Storage stores the use of storage.
	Storage struct{ conn *conn }
	// Tokens stores tokens and sessions.
	Tokens struct{ conn *conn }
	// Turns stores the turns of requests.
	Turns struct{ conn *conn }
	// Users stores users.
	Users struct{ conn *conn }
	// Webhooks stores webhooks.
	Webhooks struct{ conn *conn }
)
