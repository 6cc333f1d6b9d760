import { operations } from './apps.ts'
import { endpoint } from './endpoint.ts'

/** The developer portal: what the admin API does with apps, for a person who is signed in and the apps of their own. */
const session = { security: 'session', cors: 'our pages' } as const

export const createOwnApp = endpoint(
  'POST /api/developer/apps',
  { ...session, summary: 'Register an app of my own; its secret is shown this once' },
  operations.create.takes,
  operations.create.answers,
)

export const listOwnApps = endpoint(
  'GET /api/developer/apps',
  { ...session, summary: 'List my apps' },
  operations.list.takes,
  operations.list.answers,
)

export const showOwnApp = endpoint(
  'GET /api/developer/apps/:clientId',
  { ...session, summary: 'Read an app of mine' },
  operations.show.takes,
  operations.show.answers,
)

export const changeOwnApp = endpoint(
  'PATCH /api/developer/apps/:clientId',
  { ...session, summary: 'Change an app of mine; other redirect URIs need a fresh authentication' },
  operations.change.takes,
  operations.change.answers,
)

export const deleteOwnApp = endpoint(
  'DELETE /api/developer/apps/:clientId',
  { ...session, summary: 'Delete an app of mine, with every token it holds; needs a fresh authentication' },
  operations.delete.takes,
  operations.delete.answers,
)

export const rotateOwnAppSecret = endpoint(
  'POST /api/developer/apps/:clientId/secret',
  {
    ...session,
    summary:
      'Give an app of mine a new secret, shown this once; the old one works for graceSeconds more; ' +
      'needs a fresh authentication',
  },
  operations.rotateSecret.takes,
  operations.rotateSecret.answers,
)
