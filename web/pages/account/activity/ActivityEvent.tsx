import type { ActivityEntry } from '@countersign/protocol/accounts/account'
import type { ComponentChildren } from 'preact'
import { useLocale } from '../words.ts'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { TimelineEvent } from '../../../components/ui/Timeline.tsx'
import { formatTime } from '../../../lib/text/dates.ts'
import type { AccountData } from '../account-data.ts'
import { delegationIn } from '../apps/delegation-list.ts'
import { deviceName, isSameDevice } from '../devices/device.ts'
import { useAccountWords } from '../words.ts'
import type { ActivityGroup } from './grouping.ts'
import { lookOf, mayBeForeign } from './look.ts'
import { withObjects } from './rich.tsx'
import { isolate } from '../../../lib/text/isolate.ts'
import { atHandle } from '../../../lib/text/handle.ts'

/** The fields of an identity that an operator may change. */
const changedFields = ['handle', 'displayName', 'email'] as const
/** Acts of the operator with a reason for the user. */
const withReason = ['identity.suspended', 'identity.deletion_scheduled']

type Props = { of: ActivityGroup; data: AccountData; onForeign: () => void }

/** One event in a sentence, with the identity and the device, and how often it happened that day. */
export function ActivityEvent({ of: { entry, count }, data, onForeign }: Props) {
  const words = useAccountWords().activity
  const { words: shared, language } = useLocale()
  const { action, identityId, device, at, details } = entry
  const identity = data.session.identities.find((each) => each.identityId === identityId)
  const uses = typeof details['uses'] === 'number' ? details['uses'] : count
  const changed: unknown[] = Array.isArray(details['changed']) ? details['changed'] : []
  const facts = [
    identity && atHandle(identity.handle),
    device && deviceName(device, shared),
    uses > 1 && words.times(uses),
    ...changedFields.filter((field) => changed.includes(field)).map((field) => words.changed[field]),
    withReason.includes(action) && typeof details['reason'] === 'string' && isolate(details['reason']),
  ].filter(Boolean)
  const here = data.sessions.find(({ current }) => current)?.userAgent
  const isHere = Boolean(device && here && isSameDevice(device, here))
  return (
    <TimelineEvent
      {...lookOf(action)}
      {...avatarOf(entry, data)}
      instant={at}
      time={formatTime(at, language)}
      {...(facts.length > 0 && { detail: facts.join(' · ') })}
      {...(device &&
        mayBeForeign(action, isHere) && {
          more: (
            <button type="button" class="button danger-quiet" data-action="not-me" onClick={onForeign}>
              {words.notMe}
            </button>
          ),
        })}
    >
      <Sentence of={entry} data={data} />
    </TimelineEvent>
  )
}

/** Returns the picture of the app for a sign-in to it, if the app is still connected. */
function avatarOf({ action, clientId, appName }: ActivityEntry, { authorizations }: AccountData) {
  if (!['app.signed_in', 'app.authorized'].includes(action) || appName === null || clientId === null) return {}
  const picture = authorizations.find((each) => each.clientId === clientId)?.appIconUrl
  return { avatar: <Avatar kind="app" size="sm" name={appName} picture={picture} toneOf={clientId} /> }
}

function Sentence({ of: entry, data }: { of: ActivityEntry; data: AccountData }): ComponentChildren {
  const { ofApp, ofDelegation } = useAccountWords().activity
  const { words } = useLocale()
  const { action, appName, details } = entry
  const target = targetName(entry, data)
  const delegation = ofDelegation[action]
  if (delegation && appName !== null && target !== undefined) return withObjects(delegation, [appName, target])
  const app = ofApp[action]
  if (app && appName !== null) return withObjects(app, [appName])
  const acts: Partial<Record<string, string>> = words.activity.acts
  const said = acts[action] ?? words.activity.other
  const passkey = data.passkeys.find(({ credentialId }) => credentialId === details['credentialId'])
  const object = appName ?? passkey?.name
  if (object === undefined) return said
  return (
    <>
      {said} <strong>{object}</strong>
    </>
  )
}

/** Returns the name that the other app of a delegation had then, or has now. */
function targetName(entry: ActivityEntry, { delegations }: AccountData): string | undefined {
  const { targetApp } = entry.details
  return typeof targetApp === 'string' ? targetApp : delegationIn(entry, delegations)?.targetAppName
}
