import type { Identity } from '@countersign/protocol/identities'
import type { SignInView } from '@countersign/protocol/pages'
import { useWords } from '../ui/Root.tsx'
import { SignatureLine } from '../ui/SignatureLine.tsx'
import { destination } from './destination.ts'

type Props = { identity: Identity | undefined; view: SignInView }

/** The moment until the app has taken over; longer where an installed app must open first. */
export function Leave({ identity, view }: Props) {
  const words = useWords().signin
  return (
    <>
      {identity && <SignatureLine name={identity.displayName} below={`@${identity.handle}`} signed />}
      <p role="status">{words.leaving(view.unverified?.onDevice ? words.appOnDevice : destination(view))}</p>
    </>
  )
}
