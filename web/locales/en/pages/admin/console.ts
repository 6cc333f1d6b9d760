/** Holds the messages of the frame of the operator pages, which all of them load. */
export const adminMessages = {
  title: 'Operator',
  retry: 'Try again',
  sections: { people: 'People' },
  roles: { owner: 'Owner', people: 'People', apps: 'Apps', auditor: 'Auditor' },
  actAs: 'Act as',
  actingAs: (handle: string, role: string) => `You act as ${handle}. Role: ${role}`,
  none: {
    title: 'You are not an operator',
    about: 'Operators administer this service. If you should be one, ask an owner to add you.',
    back: 'Back to your account',
  },
  denied: {
    title: 'No access',
    /** Stands before the name of the permission. */
    lacking: 'You lack the permission',
    ask: 'Ask an owner for a role that has it.',
  },
  commandLine: 'On the command line',
  refused: {
    operator_protected: 'This is your own account, or an operator with rights that you lack.',
    last_owner: 'The service needs an owner. Make someone else an owner first.',
    identity_not_found: 'This identity does not exist.',
    permission_denied: 'You lack the permission for this. Ask an owner.',
  },
}
