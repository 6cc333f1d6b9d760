import { Type } from 'typebox'
import { App, operations } from './apps.ts'
import { endpoint } from '../endpoint.ts'
import { operations as resource } from './resources.ts'
import { operations as webhook } from './webhooks.ts'

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
  {},
  { 200: Type.Object({ apps: Type.Array(App) }) },
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

export const readOwnWebhook = endpoint(
  'GET /api/developer/apps/:clientId/webhook',
  { ...session, summary: 'Read where an app of mine hears of what happened' },
  webhook.read.takes,
  webhook.read.answers,
)

export const setOwnWebhook = endpoint(
  'PUT /api/developer/apps/:clientId/webhook',
  {
    ...session,
    summary:
      'Set it; the first time its secret is shown, this once. What was disabled is active again; ' +
      'needs a fresh authentication',
  },
  webhook.set.takes,
  webhook.set.answers,
)

export const removeOwnWebhook = endpoint(
  'DELETE /api/developer/apps/:clientId/webhook',
  { ...session, summary: 'Remove it, with what is still to be delivered' },
  webhook.remove.takes,
  webhook.remove.answers,
)

export const rotateOwnWebhookSecret = endpoint(
  'POST /api/developer/apps/:clientId/webhook/secret',
  {
    ...session,
    summary:
      'Give it a new secret, shown this once; the old one signs beside it for graceSeconds more; ' +
      'needs a fresh authentication',
  },
  webhook.rotateSecret.takes,
  webhook.rotateSecret.answers,
)

export const testOwnWebhook = endpoint(
  'POST /api/developer/apps/:clientId/webhook/test',
  { ...session, summary: 'Send it an event of the type webhook.test' },
  webhook.test.takes,
  webhook.test.answers,
)

export const listOwnWebhookDeliveries = endpoint(
  'GET /api/developer/apps/:clientId/webhook/deliveries',
  { ...session, summary: 'What it was sent in the last 30 days, newest first' },
  webhook.listDeliveries.takes,
  webhook.listDeliveries.answers,
)

export const sendOwnWebhookAgain = endpoint(
  'POST /api/developer/apps/:clientId/webhook/deliveries/:deliveryId/send',
  { ...session, summary: 'Send again what was given up, under its id' },
  webhook.sendAgain.takes,
  webhook.sendAgain.answers,
)

export const createOwnResource = endpoint(
  'POST /api/developer/apps/:clientId/resources',
  { ...session, summary: 'Offer a resource of an app of mine to other apps' },
  resource.create.takes,
  resource.create.answers,
)

export const listOwnResources = endpoint(
  'GET /api/developer/apps/:clientId/resources',
  { ...session, summary: 'List the resources of an app of mine' },
  resource.list.takes,
  resource.list.answers,
)

export const changeOwnResource = endpoint(
  'PATCH /api/developer/apps/:clientId/resources/:resourceKey',
  {
    ...session,
    summary: 'Change a resource of an app of mine; another audience or status needs a fresh authentication',
  },
  resource.change.takes,
  resource.change.answers,
)
