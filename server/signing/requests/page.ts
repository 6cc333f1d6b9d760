import type { SignView, Site } from '@countersign/protocol/pages'
import { originsOf } from '#clients/registration/redirect-uri.ts'
import type { AppDirectory } from '#clients/registration/app-directory.ts'
import type { Database } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import * as store from './store.ts'

const refuse = refusals({ request_not_found: [404, 'There is no such signing request.'] })

type Surroundings = { db: Database; apps: Pick<AppDirectory, 'find'>; site: Site }

/**
 * The page on which a person signs a request. Whether there is such a request, and whose it is, the page asks by itself
 * as the person who looks at it: here nobody is known. Refuses `request_not_found` for what can't be the id of one.
 */
export async function readSignPage({ db, apps, site }: Surroundings, query: unknown, now: Date): Promise<SignView> {
  const sent = new Map<string, unknown>(Object.entries(query ?? {}))
  const requestId = sent.get('requestId')
  if (typeof requestId !== 'string' || !uuid.test(requestId)) throw refuse.request_not_found()
  const embedded = sent.get('embed') === '1'
  const framedBy = embedded ? await originsOfApp({ db, apps }, requestId) : []
  return { page: 'sign', site, requestId, embedded, framedBy, servedAt: now.toISOString() }
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Where the app of a request is registered to live: nobody else's page may stand around what it asks. */
async function originsOfApp({ db, apps }: Pick<Surroundings, 'db' | 'apps'>, requestId: string): Promise<string[]> {
  const place = await store.findPlace(db, requestId)
  const app = place && (await apps.find(place.clientId))
  return app ? originsOf(app.redirectUris) : []
}
