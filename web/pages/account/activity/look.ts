import type { IconName } from '../../../components/ui/Icon.tsx'
import type { Tone } from '../../../components/ui/Chip.tsx'

type Look = { icon: IconName; tone?: Exclude<Tone, 'mute'> }

/** Icons by the beginning of the name of an action. The longest one that fits counts. */
const looks: Record<string, Look> = {
  'account.': { icon: 'shield-check' },
  'account.recovered': { icon: 'life-buoy', tone: 'wait' },
  'account.recovery_code.': { icon: 'life-buoy' },
  'account.device_approval.': { icon: 'monitor-smartphone' },
  'session.': { icon: 'log-out' },
  'session.created': { icon: 'log-in' },
  'session.reauthenticated': { icon: 'fingerprint-pattern' },
  'passkey.': { icon: 'key-round' },
  'passkey.removed': { icon: 'key-round', tone: 'wait' },
  'passkey.sign_count_regressed': { icon: 'shield-alert', tone: 'bad' },
  'identity.': { icon: 'id-card' },
  'identity.email': { icon: 'mail' },
  'identity.suspended': { icon: 'shield-alert', tone: 'bad' },
  'identity.deletion_scheduled': { icon: 'shield-alert', tone: 'bad' },
  'identity.signed_out': { icon: 'log-out' },
  'app.': { icon: 'code-xml' },
  'app.authorized': { icon: 'app-window', tone: 'pen' },
  'app.signed_in': { icon: 'log-in' },
  'app.disconnected': { icon: 'unplug' },
  'app_key.': { icon: 'lock' },
  'delegation.': { icon: 'bot', tone: 'pen' },
  'delegation.revoked': { icon: 'bot' },
  'organization.': { icon: 'building' },
  'organization.member.': { icon: 'user-plus' },
  'organization.signing.': { icon: 'signature', tone: 'pen' },
  'signing.requested': { icon: 'inbox' },
  'signing.organization.': { icon: 'inbox' },
  'signing.signed': { icon: 'signature', tone: 'pen' },
  'signing.denied': { icon: 'x', tone: 'bad' },
  'signing_key.': { icon: 'key-round' },
  'encryption_key.': { icon: 'lock' },
  'token_family.': { icon: 'unplug' },
  'token_family.reuse_detected': { icon: 'shield-alert', tone: 'bad' },
  'resource.': { icon: 'server' },
  'sso.': { icon: 'log-in' },
  'scim.': { icon: 'users' },
}

const beginnings = Object.keys(looks).toSorted((one, other) => other.length - one.length)

export function lookOf(action: string): Look {
  const beginning = beginnings.find((each) => action.startsWith(each))
  return (beginning === undefined ? undefined : looks[beginning]) ?? { icon: 'activity' }
}

/** Events by which a thief would show, if the user does not know the device. */
const telling = ['session.created', 'sso.login.succeeded']
/** Events by which a thief would show on any device. */
const alarming = [
  'account.recovered',
  'account.recovery_code.replaced',
  'account.device_approval.approved',
  'passkey.added',
  'passkey.removed',
]

/** Returns whether the user may want to say that someone else did it. `isHere`: in the browser that they use now. */
export function mayBeForeign(action: string, isHere: boolean): boolean {
  return !isHere && (telling.includes(action) || alarming.includes(action))
}
