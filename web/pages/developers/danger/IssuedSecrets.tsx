import { useEffect, useState } from 'preact/hooks'
import { useUnsaved } from '../../../components/form/draft.ts'
import { NewSecret } from './AppSecret.tsx'

/** A secret that was just created. Only the memory of this page holds it, until the developer leaves the app. */
export type IssuedSecret = {
  name: 'clientSecret' | 'webhookSecret'
  app: { clientId: string; name: string }
  secret: string
  previousUntil?: string | undefined
}

/** `isSaved` when the developer has said that they saved it. */
type KeptSecret = IssuedSecret & { isSaved: boolean }

export type IssuedSecretsState = ReturnType<typeof useIssuedSecrets>

/**
 * Keeps secrets that were just created. Those that are not saved stay whichever view is shown, and the browser asks
 * before the developer leaves with them. A saved client secret ends when another app, or none, is shown, and a saved
 * webhook secret at once. `isLost` if the secret of the app that is shown never arrived, and was not replaced.
 */
export function useIssuedSecrets(here: string | undefined) {
  const [kept, setKept] = useState<KeptSecret[]>([])
  const [lostOf, setLostOf] = useState<string[]>([])
  const unsaved = kept.find(({ isSaved }) => !isSaved)
  useUnsaved(unsaved !== undefined)
  useEffect(() => {
    const isKept = ({ name, app, isSaved }: KeptSecret) =>
      !isSaved || (name === 'clientSecret' && app.clientId === here)
    if (!kept.every(isKept)) setKept((current) => current.filter(isKept))
  }, [here, kept])
  return {
    /** The first secret that is not saved. */
    unsaved,
    /** Keeps a secret, which replaces the one of the same app only. */
    add(issued: IssuedSecret) {
      setKept((current) => [...current.filter((each) => !isSameKind(each, issued)), { ...issued, isSaved: false }])
      if (issued.name === 'clientSecret')
        setLostOf((current) => current.filter((clientId) => clientId !== issued.app.clientId))
    },
    confirmSaved(saved: IssuedSecret) {
      setKept((current) => current.map((each) => (each === saved ? { ...each, isSaved: true } : each)))
    },
    clientSecretOf: (clientId: string) =>
      kept.find(({ name, app }) => name === 'clientSecret' && app.clientId === clientId)?.secret,
    isLost: here !== undefined && lostOf.includes(here),
    /** Notes that the secret of an app never arrived. */
    addLost: (clientId: string) => setLostOf((current) => [...current, clientId]),
  }
}

function isSameKind(one: IssuedSecret, other: IssuedSecret): boolean {
  return one.name === other.name && one.app.clientId === other.app.clientId
}

/** Shows the secrets that are not saved, one after the other. */
export function IssuedSecrets({ of: { unsaved, confirmSaved } }: { of: IssuedSecretsState }) {
  if (!unsaved) return null
  return <NewSecret key={unsaved.secret} issued={unsaved} onSaved={() => confirmSaved(unsaved)} />
}
