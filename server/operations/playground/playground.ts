import { dropApp, ensureApp, playgroundClientId } from '#clients/registration/built-in-app.ts'
import type { Config } from '#platform/config/config.ts'
import type { Kernel } from '#platform/module/services.ts'

/** The page that shows how an app signs people in, and where the app of the same name is sent back to. */
export function playgroundUrl({ authUrl }: Pick<Config, 'authUrl'>): string {
  return `${authUrl.origin}/playground`
}

/**
 * Makes the app of the playground exist while `DEMO` is on, for the addresses of this start. While it is off the app is
 * deleted, and with it every token that it was given: nothing of a demonstration is left in earnest use.
 */
export async function ensurePlayground({ config, db, clock }: Pick<Kernel, 'config' | 'db' | 'clock'>): Promise<void> {
  if (!config.demo) return dropApp(db, playgroundClientId, clock())

  const settings = {
    name: 'Playground',
    description: 'Shows step by step what an app sends and gets.',
    redirectUris: [playgroundUrl(config)],
    idTokenAlgorithm: 'ES256' as const,
  }
  await ensureApp(db, playgroundClientId, settings, clock())
}
