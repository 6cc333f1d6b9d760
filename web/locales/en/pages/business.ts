import { organizationSecurityMessages } from './business-security.ts'

/** Holds the messages of the organization pages. */
export const businessMessages = {
  ...organizationSecurityMessages,
  title: 'Organizations',
  account: 'Your account',
  retry: 'Try again',
  none: 'You’re not a member of any organization yet. Create one, or ask someone to invite you.',
  add: 'New organization',
  create: 'Create organization',
  name: 'Name',
  nameInvalid: 'Enter a name of up to 80 characters.',
  ownAs: 'Which identity owns the organization?',
  unknown: 'Organization not found',
  unknownWhy: 'It was deleted, or you’re no longer a member.',
  save: 'Save',
  saved: 'Saved.',
  approvals: {
    needed: 'Required approvals',
    neededHint: 'How many other members of the council must approve each signature and each change of the council.',
    invalid: (most: number) => `Enter a number from 0 to ${most}.`,
  },

  signedActs: {
    title: 'Signed admin actions',
    required: 'Admins must sign their changes. The audit log keeps the signatures.',
    notRequired:
      'Admins with a signing key sign the changes they make on these pages, and the audit log keeps the signatures. ' +
      'Signing is optional.',
    require: 'Require signatures',
    letUnsigned: 'Make signatures optional',
    /** What became of a change that the user was to sign. `change` is its name in the audit log. */
    outcomes: {
      done: (change: string) => `${change}. The audit log keeps your signature.`,
      deleted: (change: string) => `${change}.`,
      declined: () => 'Nothing was changed: you didn’t sign.',
      proposed: () => 'Proposed. Others have to approve it before it can be done.',
      ended: () => 'Nothing was changed. Make the change again to sign it.',
    },
  },

  roles: {
    owner: 'Owner',
    admin: 'Admin',
    signer: 'Signer',
    member: 'Member',
    viewer: 'Viewer',
  },

  sections: {
    members: 'Members',
    council: 'Council',
    domains: 'Domains',
    sso: 'SSO',
    keys: 'Keys',
    settings: 'Settings',
    activity: 'Audit log',
  },

  rolesWhat: {
    owner: 'Full access, including deleting the organization and appointing owners.',
    admin: 'Manages members, keys, domains and SSO.',
    signer: 'Signs and approves on behalf of the organization.',
    member: 'Uses apps on behalf of the organization.',
    viewer: 'Can view the organization and its members.',
  },

  scopes: {
    read: 'View the organization and its members',
    sign: 'Sign for the organization',
    approve: 'Approve signatures',
    manage_identities: 'Invite, edit and remove members',
    manage_keys: 'Manage keys',
    manage_sso: 'Manage domains and SSO',
    manage_org: 'Change settings and view the audit log',
  },

  role: 'Role',
  mayDo: 'Permissions',
  authority: 'Signing authority',
  hasAuthority: 'Can sign for the organization',
  authorityWhat: 'Apps see that this member’s signature is binding for the organization.',
  since: (day: string) => `since ${day}`,
  ask: {
    change: (handle: string) => `Edit @${handle}`,
    remove: (handle: string) => `Remove @${handle}`,
    leave: (handle: string) => `Leave as @${handle}`,
  },

  change: 'Edit',
  remove: 'Remove',
  leave: 'Leave',
  changeTitle: (name: string) => `Permissions of ${name}`,
  removeTitle: (name: string) => `Remove ${name}?`,
  removeWhat: 'They lose access to the organization immediately, in all apps. You can invite them again.',
  removeNow: 'Remove member',
  leaveTitle: (organization: string) => `Leave ${organization}?`,
  leaveWhat: 'You lose access immediately, in all apps. You’ll need a new invitation to come back.',
  leaveNow: 'Leave organization',
  invitations: 'Invitations',
  invite: 'Invite member',
  inviteNow: 'Create invitation',
  whom: 'Username or e-mail address',
  nobody: 'No user with this username.',
  whomInvalid: 'Enter a username or an e-mail address.',
  link: 'Copy this link now and send it. It won’t be shown again and works only for the person you invited.',
  done: 'Done',
  until: (day: string) => `expires ${day}`,
  withdraw: 'Revoke',
  joining: {
    title: (organization: string) => `Join ${organization}`,
    invites: (who: string, role: string) => `${who} invited you as ${role}.`,
    as: 'Choose an identity',
    accept: (name: string) => `Join as ${name}`,
    forAnother: 'This invitation is for another username or e-mail address. Add and confirm that address first.',
    names: 'Manage your identities',
    over: 'This invitation is no longer valid',
    askAgain: 'It was accepted, revoked, or has expired. Ask for a new one.',
  },

  trail: {
    show: 'Filter',
    kinds: {
      all: 'All events',
      'organization.member': 'Members',
      'organization.invitation': 'Invitations',
      'organization.domain': 'Domains',
      sso: 'SSO',
      scim: 'SCIM',
    },
    nothing: 'No events of this kind yet.',
    saveAs: {
      csv: 'Export as CSV',
      jsonl: 'Export as JSON Lines',
    },
    trailWhy:
      'The trail links all events in a chain. Keep each export: a later one shows whether the service has changed or ' +
      'removed earlier events.',
    saveTrail: 'Export trail',
  },

  slug: 'URL name',
  slugHint: 'Used in URLs: lowercase letters, digits and hyphens.',
  logo: 'Logo URL',
  logoHint: 'Must start with https://. Apps show this logo.',
  invalid: {
    name: 'Enter a name of up to 80 characters.',
    slug: 'Use lowercase letters, digits and hyphens. Don’t start or end with a hyphen.',
    logoUrl: 'Enter a URL that starts with https://.',
  },

  deletion: {
    title: 'Delete organization',
    what: 'All members lose access immediately, in all apps. This can’t be undone.',
    confirm: (name: string) => `Delete ${name}?`,
    forever: 'Apps keep the data they already have.',
    typeName: (name: string) => `Enter “${name}” to confirm`,
    mismatch: 'That’s not the name of the organization.',
    now: 'Delete organization permanently',
  },
}
