import { Type } from 'typebox'
import { App, NewApp, operations } from './apps.ts'
import { endpoint } from '../endpoint.ts'
import { ClientId, IdentityId } from '../ids.ts'
import { pictureBody } from '../pictures.ts'
import { nullable, Timestamp } from '../values.ts'
import { AppUsage } from './usage.ts'
import { operations as resource } from './resources.ts'
import { operations as webhook } from './webhooks.ts'

/** Developer API: the app operations of the admin API, for a signed-in user and their own apps. */
const session = { security: 'session', cors: 'first party' } as const

export const createOwnApp = endpoint(
  'POST /api/developer/apps',
  { ...session, summary: 'Register an app of my own; its secret is returned only once' },
  {
    body: Type.Object(
      {
        ...NewApp.properties,
        identityId: Type.Optional(
          Type.Unsafe<IdentityId>({
            ...IdentityId,
            description: 'Identity that the operator sees as the owner; the default is the first one',
          }),
        ),
      },
      { additionalProperties: false },
    ),
  },
  operations.create.answers,
)

export const listOwnApps = endpoint(
  'GET /api/developer/apps',
  { ...session, summary: 'List my apps' },
  {},
  { 200: Type.Object({ apps: Type.Array(Type.Object({ ...App.properties, lastSignInAt: nullable(Timestamp) })) }) },
)

export const getOwnApp = endpoint(
  'GET /api/developer/apps/:clientId',
  { ...session, summary: 'Get one of my apps' },
  operations.show.takes,
  operations.show.answers,
)

export const getOwnAppUsage = endpoint(
  'GET /api/developer/apps/:clientId/usage',
  { ...session, summary: 'Get the number of sign-ins and errors of my app per day' },
  { params: Type.Object({ clientId: ClientId }) },
  { 200: AppUsage },
)

export const updateOwnApp = endpoint(
  'PATCH /api/developer/apps/:clientId',
  { ...session, summary: 'Update one of my apps; changing redirect URIs requires recent authentication' },
  operations.change.takes,
  operations.change.answers,
)

export const setOwnAppIcon = endpoint(
  'PUT /api/developer/apps/:clientId/icon',
  { ...session, ...pictureBody, summary: 'Upload the logo of my app: PNG, JPEG or WebP of at most 2 MiB' },
  operations.setIcon.takes,
  operations.setIcon.answers,
)

export const removeOwnAppIcon = endpoint(
  'DELETE /api/developer/apps/:clientId/icon',
  { ...session, summary: 'Remove the logo of my app' },
  operations.setIcon.takes,
  operations.setIcon.answers,
)

export const deleteOwnApp = endpoint(
  'DELETE /api/developer/apps/:clientId',
  { ...session, summary: 'Delete one of my apps and revoke all its tokens; requires recent authentication' },
  operations.delete.takes,
  operations.delete.answers,
)

export const rotateOwnAppSecret = endpoint(
  'POST /api/developer/apps/:clientId/secret',
  {
    ...session,
    summary:
      'Create a new secret for my app, returned only once; the old one stays valid for graceSeconds; ' +
      'requires recent authentication',
  },
  operations.rotateSecret.takes,
  operations.rotateSecret.answers,
)

export const getOwnWebhook = endpoint(
  'GET /api/developer/apps/:clientId/webhook',
  { ...session, summary: 'Get the webhook of my app' },
  webhook.read.takes,
  webhook.read.answers,
)

export const setOwnWebhook = endpoint(
  'PUT /api/developer/apps/:clientId/webhook',
  {
    ...session,
    summary:
      'Set the webhook of my app; its secret is returned only the first time. Enables a disabled webhook; ' +
      'requires recent authentication',
  },
  webhook.set.takes,
  webhook.set.answers,
)

export const removeOwnWebhook = endpoint(
  'DELETE /api/developer/apps/:clientId/webhook',
  { ...session, summary: 'Remove the webhook of my app and its pending deliveries' },
  webhook.remove.takes,
  webhook.remove.answers,
)

export const rotateOwnWebhookSecret = endpoint(
  'POST /api/developer/apps/:clientId/webhook/secret',
  {
    ...session,
    summary:
      'Create a new webhook secret, returned only once; the old one also signs for graceSeconds; ' +
      'requires recent authentication',
  },
  webhook.rotateSecret.takes,
  webhook.rotateSecret.answers,
)

export const testOwnWebhook = endpoint(
  'POST /api/developer/apps/:clientId/webhook/test',
  { ...session, summary: 'Send an event of type webhook.test to my webhook' },
  webhook.test.takes,
  webhook.test.answers,
)

export const listOwnWebhookDeliveries = endpoint(
  'GET /api/developer/apps/:clientId/webhook/deliveries',
  { ...session, summary: 'List the webhook deliveries of the last 30 days, newest first' },
  webhook.listDeliveries.takes,
  webhook.listDeliveries.answers,
)

export const redeliverOwnWebhook = endpoint(
  'POST /api/developer/apps/:clientId/webhook/deliveries/:deliveryId/send',
  { ...session, summary: 'Resend a failed delivery under the same ID' },
  webhook.sendAgain.takes,
  webhook.sendAgain.answers,
)

export const createOwnResource = endpoint(
  'POST /api/developer/apps/:clientId/resources',
  { ...session, summary: 'Create a resource of my app that other apps can use' },
  resource.create.takes,
  resource.create.answers,
)

export const listOwnResources = endpoint(
  'GET /api/developer/apps/:clientId/resources',
  { ...session, summary: 'List the resources of my app' },
  resource.list.takes,
  resource.list.answers,
)

export const updateOwnResource = endpoint(
  'PATCH /api/developer/apps/:clientId/resources/:resourceKey',
  {
    ...session,
    summary: 'Update a resource of my app; changing audience or status requires recent authentication',
  },
  resource.change.takes,
  resource.change.answers,
)
