import type {
  AuthorizationResponse,
  SignInView,
  SilentRedirect,
  ConnectorUnavailableReason,
} from '@countersign/protocol/pages'
import { Unfinished } from '../../../components/display/Unfinished.tsx'

export type ConfirmRedirectProps = { why: SilentRedirect | ConnectorUnavailableReason; view: SignInView }

/** The end of a request without prompts by an unverified app that is not connected to any identity of the user. */
export function ConfirmRedirect({ why, view: { unverified, silently, connector } }: ConfirmRedirectProps) {
  const ends: Partial<Record<SilentRedirect | ConnectorUnavailableReason, AuthorizationResponse>> = {
    ...silently,
    ...connector?.withdrawn,
  }
  const leaving = ends[why]
  return unverified && leaving && <Unfinished host={unverified.host} error={why} leaving={leaving} silently />
}
