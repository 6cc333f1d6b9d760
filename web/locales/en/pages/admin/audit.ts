/** Holds the messages about the audit log, for operators. */
export const adminAuditMessages = {
  title: 'Audit log',
  lead: 'Everything that was done on the service, newest first.',
  none: 'Nothing was recorded yet',
  filter: {
    title: 'Filter',
    action: 'Action',
    identity: 'Username or ID',
    app: 'Client ID',
    period: 'Period',
    periods: { all: 'All time', day: '24 hours', week: '7 days', month: '30 days' },
    apply: 'Filter',
    clear: 'Clear filters',
  },
  nothingNew: 'No new events',
  showNew: (count: number, isMore: boolean) => `Show ${count}${isMore ? '+' : ''} new`,
  noMatch: 'No event found',
  noMatchWhat: 'Try other filters.',
  noneSoFar: 'Nothing found so far. There is more to search.',
  details: 'Details',
  app: 'App',
  identity: 'Identity',
  actors: { user: 'A user', operator: 'An operator', app: 'An app', system: 'The service' },
  by: {
    operator: (name: string | undefined) => (name === undefined ? 'A former operator' : `Operator ${name}`),
    token: (name: string | undefined) => (name === undefined ? 'An admin token' : `Admin token ${name}`),
  },
}
