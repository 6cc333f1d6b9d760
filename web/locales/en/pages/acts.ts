import { plural } from '../../plural.ts'

type Act = { organization: string; what: string }
type Role = 'owner' | 'admin' | 'signer' | 'member' | 'viewer'

const asRole: Record<Role, string> = {
  owner: 'an owner',
  admin: 'an admin',
  signer: 'a signer',
  member: 'a member',
  viewer: 'a viewer',
}

/** Holds the messages of the page that signs changes in organizations. */
export const actMessages = {
  title: 'Sign this change',
  /** Says what each action does. Has the audit action that is signed as key. */
  acts: {
    'organization.updated': ({ organization }: Act) => `Change the settings of ${organization}`,
    'organization.deleted': ({ organization }: Act) => `Delete ${organization}`,
    'organization.member.updated': ({ organization, what }: Act) =>
      `Change the permissions of ${what} in ${organization}`,
    'organization.member.removed': ({ organization, what }: Act) => `Remove ${what} from ${organization}`,
    'organization.invitation.created': ({ organization, what }: Act) => `Invite ${what} to ${organization}`,
    'organization.invitation.revoked': ({ organization, what }: Act) =>
      `Revoke the invitation of ${what} to ${organization}`,
    'organization.domain.added': ({ organization, what }: Act) => `Add the domain ${what} to ${organization}`,
    'organization.domain.verified': ({ organization, what }: Act) => `Verify the domain ${what} for ${organization}`,
    'organization.domain.removed': ({ organization, what }: Act) => `Remove the domain ${what} from ${organization}`,
    'organization.key.created': ({ organization }: Act) => `Create a key for ${organization}`,
    'organization.key.shared': ({ organization }: Act) => `Share a key of ${organization} with members`,
    'organization.key.deleted': ({ organization, what }: Act) => `Delete key ${what} of ${organization}`,
    'organization.kms.updated': ({ organization }: Act) => `Configure the KMS of ${organization}`,
    'organization.kms.removed': ({ organization }: Act) => `Remove the KMS of ${organization}`,
    'sso.connection.created': ({ organization, what }: Act) => `Add the SSO connection ${what} to ${organization}`,
    'sso.connection.updated': ({ organization, what }: Act) => `Change the SSO connection ${what} of ${organization}`,
    'sso.connection.confirmed': ({ organization, what }: Act) =>
      `Confirm the SSO connection ${what} of ${organization}`,
    'sso.connection.deleted': ({ organization, what }: Act) => `Delete the SSO connection ${what} of ${organization}`,
    'sso.encryption_key.created': ({ organization, what }: Act) =>
      `Publish a SAML encryption key for ${what} of ${organization}`,
    'sso.encryption_key.removed': ({ organization, what }: Act) =>
      `Remove the SAML encryption key of ${what} of ${organization}`,
    'scim.token.created': ({ organization, what }: Act) => `Create a SCIM token for ${what} of ${organization}`,
    'scim.token.revoked': ({ organization, what }: Act) => `Remove SCIM from ${what} of ${organization}`,
    'organization.signatory.admitted': ({ organization, what }: Act) =>
      `Admit ${what} to the council of ${organization}`,
    'organization.signatory.suspended': ({ organization, what }: Act) =>
      `Suspend ${what} in the council of ${organization}`,
    'organization.council.reset_requested': ({ organization }: Act) =>
      `Ask to end the council of ${organization} without its approval`,
    'organization.council.reset': ({ organization }: Act) => `End the council of ${organization} without its approval`,
  },
  leave: ({ organization }: Act) => `Leave ${organization}`,
  /** Says more exactly what a change of one setting does. */
  role: ({ organization, what }: Act, role: Role) => `Make ${what} ${asRole[role]} of ${organization}`,
  settings: {
    name: ({ organization }: Act, value: string) => `Rename ${organization} to ${value}`,
    requireSignedActions: {
      on: ({ organization }: Act) => `Require signatures for changes in ${organization}`,
      off: ({ organization }: Act) => `Make signatures optional in ${organization}`,
    },
    approvalsNeeded: {
      found: ({ organization }: Act, count: number) =>
        plural('en', count, {
          one: `Found a council for ${organization}: each signature needs 1 approval`,
          other: `Found a council for ${organization}: each signature needs ${count} approvals`,
        }),
      change: ({ organization }: Act, count: number) =>
        plural('en', count, {
          one: `Require 1 approval in the council of ${organization}`,
          other: `Require ${count} approvals in the council of ${organization}`,
        }),
      end: ({ organization }: Act) => `End the council of ${organization}`,
    },
    ssoRequired: {
      on: ({ organization }: Act) => `Require SSO in ${organization}`,
      off: ({ organization }: Act) => `Stop requiring SSO in ${organization}`,
    },
  },
  unknown: (action: string, organization: string) => `${action} in ${organization}`,
  becomes: 'becomes',
  what: 'Your passkey confirms the change, and your organization keeps your signature in its audit log.',
  whatDeletes: 'Your passkey confirms the change.',
  exact: 'What exactly is signed',
  exactChange: 'Change',
  exactStatement: 'Signed statement',
  incomplete: 'Not everything in this change can be described in words. Read the exact data to the end.',
  signatories: 'Signatories',
  may: { sign: 'signs', approve: 'approves', both: 'signs and approves' },
  ends: {
    founded: 'Afterwards only these people sign and approve for the organization, and decide together who else does.',
    suspended:
      'They sign and approve nothing for the organization any more. They can still veto a reset of the council.',
    resetRequested:
      'You can end the council in 14 days. Its members get a mail, and each of them can veto it until then.',
    reset: 'Afterwards no approvals are needed. Receipts of the organization show that the council was ended this way.',
  },
  proposedBy: (who: string) => `Proposed by ${who}.`,
  approving:
    'Your passkey confirms the approval. The change is made once enough others have approved and its author signs.',
  approve: 'Approve',
  sign: 'Sign',
  signAndLeave: 'Sign and leave',
  /** The button, where it can say what the signature does. */
  signAnd: {
    'organization.deleted': 'Sign and delete',
    'organization.member.removed': 'Sign and remove',
    'organization.invitation.created': 'Sign and invite',
    'organization.invitation.revoked': 'Sign and revoke',
    'organization.domain.added': 'Sign and add',
    'organization.domain.removed': 'Sign and remove',
    'organization.key.created': 'Sign and create',
    'organization.key.shared': 'Sign and share',
    'organization.key.deleted': 'Sign and delete',
    'sso.connection.created': 'Sign and add',
    'sso.connection.deleted': 'Sign and delete',
    'scim.token.created': 'Sign and create',
    'organization.signatory.admitted': 'Sign and admit',
    'organization.signatory.suspended': 'Sign and suspend',
  },
  youSign: 'You sign this change',
  youApprove: 'You approve this change',
  signatory:
    'This person is in the council. If the change takes away their permission to sign or approve, the signatures ' +
    'they gave to open requests don’t count any more.',
  sessionEnded: 'Your session ended meanwhile',
  sessionEndedWhy:
    'A change can only be signed in the session in which it was started. Nothing was changed. Go back and make the ' +
    'change again.',
  decline: 'Cancel',
  codeWhy:
    'This passkey confirmed the change, but can’t unlock your signing key. Enter your recovery code; it stays valid.',
  whoAreYouWhy: 'Sign in to see and sign the change.',
  nothing: 'Nothing to sign here',
  nothingWhy:
    'This change was already made, has expired, or was started in another browser. Nothing more happens here.',
  back: 'Back to the organization',
  again: 'Start over',
  stopped: 'Nothing was signed',
  stoppedWhy: {
    statement:
      'The service describes this change differently from what you saw here. Start over. If this happens again, ' +
      'don’t ' +
      'sign and tell the operator.',
    clock:
      'The clock of this device and the clock of the service differ by more than ten minutes. Set the date and ' +
      'time of ' +
      'the device automatically, then start over.',
    outdated: 'This change was prepared before something else that you did or saw in this browser. Start over.',
    superseded: 'Someone else made a change at the same time. Check whether yours is still needed, and start over.',
    changed: 'What you wanted to change was changed by someone else meanwhile. Check it, and start over.',
    expired: 'The five minutes for this change are over, or it was already made. Check it, and start over.',
  },
  results: {
    'organization.invitation.created': {
      title: 'Invitation created',
      what: 'Copy this link now and send it. It won’t be shown again and works only for the person you invited.',
    },
    'scim.token.created': {
      title: 'SCIM token created',
      what: 'Enter both values in your directory. The token won’t be shown again.',
    },
  },
  values: { link: 'Invitation link', address: 'SCIM base URL', token: 'Token' },
  done: 'Done',
}
