/** Holds the messages of the frame of the operator pages, which all of them load. */
export const adminMessages = {
  title: 'Operator',
  retry: 'Try again',
  sections: { people: 'People', groups: 'Groups', apps: 'Apps', audit: 'Audit log', operators: 'Operators' },
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
  more: 'Show more',
  identity: 'Username or identity ID',
  actions: 'Actions',
  commandLine: 'On the command line',
  refused: {
    group_exists: 'Another group has this key.',
    group_not_found: 'This group no longer exists.',
    too_many_groups: 'The limit of groups is reached. Delete one first.',
    operator_exists: 'This identity is an operator already.',
    operator_not_found: 'This operator was removed already.',
    too_many_operators: 'The limit of operators is reached. Remove one first.',
    too_many_tokens: 'The limit of admin tokens is reached. Revoke one first.',
    operator_protected: 'This is your own account, or an operator with rights that you lack.',
    last_owner: 'The service needs an owner. Make someone else an owner first.',
    identity_not_found: 'This identity does not exist.',
    permission_denied: 'You lack the permission for this. Ask an owner.',
  },
}
