import { useEffect, useState } from 'preact/hooks'
import { useUnsaved } from '../../../components/form/draft.ts'
import { NewSecret } from './AppSecret.tsx'

/**
 * A secret that was just created. Only the memory of this page holds it, until the developer leaves the app. `isSaved`
 * when they have said that they saved it.
 */
export type IssuedClientSecret = {
  clientId: string
  clientSecret: string
  previousUntil?: string | undefined
  isSaved: boolean
}

/** A secret of a webhook that was just created. Only the memory of this page holds it. */
export type IssuedWebhookSecret = { secret: string; previousUntil?: string }

export type IssuedSecretsState = ReturnType<typeof useIssuedSecrets>

/**
 * Keeps secrets that were just created. One that is not saved stays whichever view is shown, and the browser asks
 * before the developer leaves with it. A saved one ends when another app, or none, is shown. `isLost` while the secret
 * of the app that is shown never arrived.
 */
export function useIssuedSecrets(here: string | undefined) {
  const [client, setClient] = useState<IssuedClientSecret>()
  const [webhook, setWebhook] = useState<IssuedWebhookSecret>()
  const [lostOf, setLostOf] = useState<string>()
  useUnsaved(client?.isSaved === false || webhook !== undefined)
  useEffect(() => {
    if (client?.isSaved && client.clientId !== here) setClient(undefined)
  }, [here, client])
  const isLost = lostOf !== undefined && lostOf === here
  const takeClient = (issued: IssuedClientSecret) => {
    setClient(issued)
    if (issued.clientId === lostOf) setLostOf(undefined)
  }
  return { client, setClient: takeClient, webhook, setWebhook, isLost, setLostOf }
}

/** Shows the secrets that are not saved. */
export function IssuedSecrets({ of: { client, setClient, webhook, setWebhook } }: { of: IssuedSecretsState }) {
  return (
    <>
      {client && !client.isSaved && (
        <NewSecret
          name="clientSecret"
          secret={client.clientSecret}
          previousUntil={client.previousUntil}
          envFile={`CLIENT_ID=${client.clientId}\nCLIENT_SECRET=${client.clientSecret}\n`}
          onSaved={() => setClient({ ...client, isSaved: true })}
        />
      )}
      {webhook && (
        <NewSecret
          name="webhookSecret"
          secret={webhook.secret}
          previousUntil={webhook.previousUntil}
          envFile={`WEBHOOK_SECRET=${webhook.secret}\n`}
          onSaved={() => setWebhook(undefined)}
        />
      )}
    </>
  )
}
