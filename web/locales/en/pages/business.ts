import { plural } from '../../plural.ts'
import { organizationSecurityMessages } from './business-security.ts'
import { consoleMessages } from './organizations/console.ts'

/** Holds the messages of the organization pages. */
export const businessMessages = {
  ...consoleMessages,
  ...organizationSecurityMessages,
  account: 'Your account',
  noneTitle: 'No organizations yet',
  none: 'You’re not a member of any organization yet. Create one, or ask someone to invite you.',
  addWhat: 'Invite colleagues, sign documents together, and decide how all of you sign in.',
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
    first: (count: number) =>
      plural('en', count, {
        one: '1 other member of the council must approve this. You propose it now, and sign it after the approval.',
        other:
          `${count} other members of the council must approve this. You propose it now, and sign it after their ` +
          'approval.',
      }),
    admission: 'The council must admit a member before they can sign or approve. You propose that under Council.',
  },

  rolesWhat: {
    owner: 'May do everything, also appoint owners and delete the organization.',
    admin: 'Invites and removes members, manages keys, domains and sign-on, and signs.',
    signer: 'Signs for the organization, and approves what others sign.',
    member: 'Uses apps for the organization. Signs nothing and manages nothing.',
    viewer: 'Sees the organization and its members. Uses apps that allow viewers.',
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
  removeWhat:
    'They lose access to the organization immediately, in all apps. They can join again with a new ' +
    'invitation, or through your SSO if it lets them in.',
  removeNow: 'Remove member',
  leaveTitle: (organization: string) => `Leave ${organization}?`,
  leaveWhat:
    'You lose access immediately, in all apps. You can join again with a new invitation, or through the ' +
    'organization’s SSO if it lets you in.',
  leaveNow: 'Leave organization',
  invitations: 'Invitations',
  invite: 'Invite people',
  inviteNow: 'Invite',
  invitees: 'Username or e-mail address',
  inviteesInvalid: 'Enter a username or an e-mail address.',
  link: 'Copy this link now and send it. It won’t be shown again and works only for the person you invited.',
  done: 'Done',
  until: (day: string) => `expires ${day}`,
  withdraw: 'Revoke',
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
      'The audit log links all events in a chain. Keep each export: a later one shows whether the service has ' +
      'changed or removed earlier events.',
    saveTrail: 'Export whole audit log',
  },

  settingsLead: 'Name, logo and rules of the organization.',
  details: 'Details',
  slug: 'URL name',
  slugHint: 'Used in URLs: lowercase letters, digits and hyphens.',
  logo: 'Logo URL',
  logoSha256: 'SHA-256 of the logo',
  invalid: {
    name: 'Enter a name of up to 80 characters.',
    slug: 'Use lowercase letters, digits and hyphens. Don’t start or end with a hyphen.',
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
