/** Holds the messages about the state of the service, for operators. */
export const adminOverviewMessages = {
  title: 'Overview',
  attention: 'Needs attention',
  well: 'Everything works.',
  version: (version: string) => `Version ${version}`,
  since: (day: string) => `Since ${day}`,
  failing: 'Failing',
  warning: 'Warning',
  checks: {
    database: { title: 'Database', fix: 'The database does not answer. Read the log of the service.' },
    migrations: {
      title: 'The database is of another version',
      fix: 'Run the same version on every machine, and restart it.',
    },
    clock: { title: 'Two clocks differ', fix: 'Synchronize the service and its database by NTP.' },
    disk: { title: 'The disk is nearly full', fix: 'Delete files on the disk of DATA_DIR, or enlarge it.' },
    mail: { title: 'No mail is sent', fix: 'Set SMTP_URL and MAIL_FROM.' },
    invitation_mails: {
      title: 'Mails of invitations fail',
      fix: 'They are sent again later. Check the mail server and the log.',
    },
    webhooks: { title: 'Webhooks fail', fix: 'They are sent again later. Check the deliveries of your apps.' },
    audit_log: {
      title: 'The audit log waits',
      fix: 'New events have no place in it yet. Read the log of the service.',
    },
    sinks: {
      title: 'Sinks get no events',
      fix: 'They are sent again later. See why with: countersign sinks list',
    },
    token_signing_keys: {
      title: 'Token-signing keys are overdue',
      fix: 'Rotate them with: countersign keys rotate',
    },
    backup: {
      title: 'No recent backup',
      fix: 'Create one, and keep it on another machine: countersign backup',
    },
    owners: {
      title: 'A second owner is missing',
      fix: 'Add one. If the only owner loses their passkeys, no one can manage operators.',
    },
    admin_tokens: { title: 'Admin tokens expire soon', fix: 'Replace those that are in use.' },
    scim_tokens: { title: 'SCIM tokens expire soon', fix: 'Replace those of directories in use.' },
  },
  numbers: {
    pendingInvitations: 'Open invitations',
    suspendedIdentities: 'Suspended identities',
    apps: 'Apps',
    operators: 'Operators',
  },
  open: {
    pendingInvitations: 'See invitations',
    suspendedIdentities: 'See people',
    apps: 'See apps',
    operators: 'See operators',
  },
  first: 'First steps',
  steps: {
    invite: { title: 'Invite people', why: 'By a link, by e-mail, or from a file.' },
    groups: { title: 'Create a group', why: 'Groups decide who may use an app.' },
    owner: { title: 'Add a second owner', why: 'In case you lose your passkeys.' },
  },
}
