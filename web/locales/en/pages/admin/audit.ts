/** Holds the messages about the audit log, for operators. */
export const adminAuditMessages = {
  title: 'Audit log',
  lead: 'Everything that was done on the service, newest first.',
  none: 'Nothing was recorded yet',
  details: 'Details',
  app: 'App',
  identity: 'Identity',
  actors: { user: 'A user', operator: 'An operator', app: 'An app', system: 'The service' },
  by: {
    operator: (name: string | undefined) => (name === undefined ? 'A former operator' : `Operator ${name}`),
    token: (name: string | undefined) => (name === undefined ? 'An admin token' : `Admin token ${name}`),
  },
}
