import type { Identity } from '@countersign/protocol/accounts/identities'
import type { SignInView } from '@countersign/protocol/pages'
import { useWords } from '../../components/frame/Root.tsx'
import { SignatureLine } from '../../components/display/SignatureLine.tsx'
import { destination } from './consent/destination.ts'

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
