import type { AppDirectory, RegisteredApp } from '#clients/registration/app-directory.ts'
import { originsOf } from '#clients/registration/redirect-uri.ts'
import { refusals } from '#platform/refusal.ts'

const refuse = refusals({ unauthorized_client: [403, 'The page that asks is none of this app.'] })

/** An app, and the origin of the page that asks for it. */
export type RequestingApp = { app: RegisteredApp; origin: string }

/**
 * The app that a page asks for, if it is one of its pages: the browser says where it is, and an app is known by the
 * origins of its redirect URIs, letter for letter (FedCM §3.5). One that describes itself in a document is not: anybody
 * can write one. Refuses `unauthorized_client`, alike for an unknown app.
 */
export async function requireRequestingApp(
  apps: AppDirectory,
  clientId: string,
  origin: string | undefined,
): Promise<RequestingApp> {
  const app = await apps.find(clientId)
  const isOwn = app?.documentReadAt === null && origin !== undefined && originsOf(app.redirectUris).includes(origin)
  if (!app || !isOwn) throw refuse.unauthorized_client()
  return { app, origin }
}
