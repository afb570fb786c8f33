package institution

import (
	"context"
	"errors"

	"aliquot/internal/store/sqldb"
)

// EndLeft ends the authorities and stand-ins of people who left: the affiliation with the institution that an identity
// provider asserted is over, and there is no other one today that somebody confirmed.
func (st Institutions) EndLeft(ctx context.Context) error {
	return errors.Join(endLeft(ctx, st.conn, "authorities", "holder"), endLeft(ctx, st.conn, "stand_ins", "person"))
}

func endLeft(ctx context.Context, c *sqldb.Conn, table, who string) error {
	of := "FROM affiliations f WHERE f.person = " + table + "." + who + " AND f.institution = " + table +
		".institution AND "
	_, err := c.Exec(ctx, "UPDATE "+table+" SET until_day = $1 WHERE "+who+" IS NOT NULL AND (until_day = '' OR "+
		"until_day > $1) AND EXISTS (SELECT 1 "+of+"f.source = 'IDENTITY_PROVIDER' AND f.until_day <> '' AND "+
		"f.until_day <= $1) AND NOT EXISTS (SELECT 1 "+of+"f.confirmed AND f.from_day <= $1 AND (f.until_day = '' OR "+
		"f.until_day > $1))", c.Today())
	return err
}
