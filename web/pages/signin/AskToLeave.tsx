import type { Leaving, SignInView, SilentEnd, Withdrawal } from '@countersign/protocol/pages'
import { Unfinished } from '../../components/display/Unfinished.tsx'

type Props = { why: SilentEnd | Withdrawal; view: SignInView }

/** A request that allows no question, of an unverified app that no identity of the user has connected. */
export function AskToLeave({ why, view: { unverified, silently, connector } }: Props) {
  const ends: Partial<Record<SilentEnd | Withdrawal, Leaving>> = { ...silently, ...connector?.withdrawn }
  const leaving = ends[why]
  return unverified && leaving && <Unfinished host={unverified.host} error={why} leaving={leaving} silently />
}
