/** Holds the messages of the frame of the organization pages, which all of them load. */
export const consoleMessages = {
  title: 'Organizations',
  retry: 'Try again',
  add: 'New organization',
  joined: (organization: string) => `You joined ${organization}.`,
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
    overview: 'Overview',
    members: 'Members',
    documents: 'Documents',
    council: 'Council',
    domains: 'Domains',
    sso: 'Single sign-on',
    directory: 'Directory sync',
    keys: 'Keys',
    settings: 'Settings',
    activity: 'Audit log',
  },
  access: 'Access',
  switchTo: 'Switch organization',
  /** Begins with what the button shows. */
  switchFrom: (organization: string, role: string) => `${organization} You are ${role}. Switch organization`,
  youAre: (role: string) => `You are ${role}`,
}
