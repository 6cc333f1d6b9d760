import { createResource } from '@countersign/sdk/resource'
import Fastify from 'fastify'
import { eventsOf } from './events.js'

const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, PORT = '3001' } = process.env
const { APP_URL: appUrl = 'http://localhost:3001' } = process.env
const { BASE_URL: baseUrl = 'http://localhost:4400', ISSUER: authUrl = 'http://localhost:4401' } = process.env

const calendar = createResource({
  authUrl,
  audience: `${appUrl}/api`,
  resourceKey: 'calendar',
  metadata: { name: 'Calendar', scopes: ['calendar.read'] },
  // A small calendar can ask for each request whether the consent still stands.
  introspect: { baseUrl, clientId, clientSecret, everySeconds: 0 },
})

const app = Fastify()
app.register(calendar.fastifyMetadata())
app.register(
  async (api) => {
    api.register(calendar.fastify, { scope: 'calendar.read' })
    api.get('/events', async ({ delegated }) => ({ events: eventsOf(delegated.identityId) }))
  },
  { prefix: '/api' },
)

await app.listen({ port: Number(PORT) })
console.log(`The calendar is at ${appUrl}/api`)
