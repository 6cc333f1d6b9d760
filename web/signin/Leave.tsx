import type { Identity } from '@countersign/protocol/identities'
import { placeOf } from '../place.ts'
import { useWords } from '../ui/Root.tsx'
import { SignatureLine } from '../ui/SignatureLine.tsx'

type Props = { identity: Identity | undefined; redirectUri: string }

/** The moment until the app has taken over; longer where an installed app must open first. */
export function Leave({ identity, redirectUri }: Props) {
  const words = useWords().signin
  return (
    <>
      {identity && <SignatureLine name={identity.displayName} below={`@${identity.handle}`} signed />}
      <p role="status">{words.leaving(placeOf(redirectUri))}</p>
    </>
  )
}
