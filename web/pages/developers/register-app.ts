import type { ResponseOf } from '@countersign/protocol/api'
import type { NewApp } from '@countersign/protocol/clients/apps'
import { useRef } from 'preact/hooks'
import { call, NetworkError } from '../../lib/api/call.ts'
import type { OwnApp } from './Developers.tsx'

export type Registration = NewApp & { identityId: string }

/** An app that was just registered. Without a secret, it is a public one, or the response with its secret was lost. */
export type RegisteredApp = Omit<ResponseOf<'POST /api/developer/apps'>, 'clientSecret'> & { clientSecret?: string }

/**
 * Returns the function that registers an app. The service may have registered one although its response was lost: that
 * app is found among the apps of the user, and not registered again.
 *
 * @param known The apps that the user had before.
 */
export function useRegistration(known: OwnApp[]): (app: Registration) => Promise<RegisteredApp> {
  const unanswered = useRef<Registration>(undefined)
  return async (body) => {
    const { current: lost } = unanswered
    // The kind of an app cannot be changed later.
    const earlier = lost && lost.public === body.public ? await findRegistered(lost, known) : undefined
    if (earlier) return earlier
    unanswered.current = undefined
    try {
      return await call('POST /api/developer/apps', { body })
    } catch (error) {
      if (!(error instanceof NetworkError)) throw error
      unanswered.current = body
      const found = await findRegistered(body, known).catch(() => undefined)
      if (!found) throw error
      return found
    }
  }
}

async function findRegistered({ name, redirectUris }: Registration, known: OwnApp[]): Promise<OwnApp | undefined> {
  const { apps } = await call('GET /api/developer/apps', {})
  const isNew = ({ clientId }: OwnApp) => !known.some((each) => each.clientId === clientId)
  return apps.find((app) => isNew(app) && app.name === name && app.redirectUris.join(' ') === redirectUris.join(' '))
}
