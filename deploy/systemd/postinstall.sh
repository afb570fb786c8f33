#!/bin/sh
# Creates the user, and restarts the service if the version before runs.
set -e
systemd-sysusers aliquot.conf
chgrp -R aliquot /etc/aliquot
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart aliquot.service
fi
