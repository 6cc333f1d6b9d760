import type { PendingRequest } from '@countersign/protocol/signing/pending-signing'
import { call } from '../../../lib/api/call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { Monogram } from '../../../components/display/Monogram.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import type { AccountData } from '../Account.tsx'
import { SigningHistory } from './History.tsx'
import { ReplaceSigningKey } from './ReplaceSigningKey.tsx'
import { useReplaceSigningKey } from './key-flow.ts'
import { readMorePending, readPending } from './pending.ts'
import { SigningKeys } from './SigningKeys.tsx'

type Props = { data: AccountData; onChange: (data: AccountData) => void }

/** Shows the pending signing requests of the user, and their signing keys. */
export function Signing({ data, onChange }: Props) {
  const { signing: words, activity } = useLocale().words
  const doing = useActions()
  const { session, pending, signingKeys } = data
  const { identities, user } = session
  const { count, requests, nextCursor } = pending
  const change = useReplaceSigningKey(user.userId, async () => {
    const [{ keys }, left] = await Promise.all([call('GET /api/signing/keys', {}), readPending(requests.length)])
    onChange({ ...data, pending: left, signingKeys: keys })
  })
  const { step } = change
  const more: Action = {
    name: 'more-requests',
    label: activity.more,
    look: 'secondary',
    do: async () => onChange({ ...data, pending: await readMorePending(pending) }),
  }
  if (step.at !== 'rest')
    return <ReplaceSigningKey change={change} step={step} pending={pending} userId={user.userId} />
  return (
    <section class="step">
      <h1>{words.title}</h1>
      <p class="lead" role="status">
        {words.waiting(count)}
      </p>
      <ul class="entries">
        {requests.map((request) => (
          <Waiting key={request.requestId} request={request} />
        ))}
      </ul>
      {nextCursor !== undefined && <Actions of={[more]} doing={doing} />}
      <section class="apart">
        <h2>{words.keysTitle}</h2>
        <p role="status">{step.done && words.inForce(step.done.handle)}</p>
        <SigningKeys identities={identities} keys={signingKeys} onChange={change.confirm} />
      </section>
      <SigningHistory waiting={pending} />
    </section>
  )
}

function Waiting({ request }: { request: PendingRequest }) {
  const { requestId, app, handle, expiresAt, organization } = request
  const { words, language } = useLocale()
  const { as, asMember, until, read, readOf } = words.signing
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'short' }).format(new Date(expiresAt))
  return (
    <li class="entry with-monogram">
      <Monogram name={app.name} />
      <div>
        <h3>{app.name}</h3>
        <p>
          {organization ? asMember(organization.name, handle) : as(handle)}, {until(time)}
        </p>
      </div>
      <a class="button quiet" href={`/sign?requestId=${requestId}`} aria-label={readOf(app.name)}>
        {read}
      </a>
    </li>
  )
}
