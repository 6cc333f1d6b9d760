import type { PendingRequest } from '@countersign/protocol/signing/pending-signing'
import { call } from '../../../lib/call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Monogram } from '../../../components/display/Monogram.tsx'
import { useSpeech } from '../../../components/frame/Root.tsx'
import type { Holdings } from '../Account.tsx'
import { History } from './History.tsx'
import { KeyChange } from './KeyChange.tsx'
import { useKeyChange } from './key-flow.ts'
import { readMorePending, readPending } from './pending.ts'
import { SigningKeys } from './SigningKeys.tsx'

type Props = { holdings: Holdings; onChange: (holdings: Holdings) => void }

/** What waits for a person's signature, and the keys that they sign with. */
export function Signing({ holdings, onChange }: Props) {
  const { signing: words, activity } = useSpeech().words
  const doing = useDoing()
  const { session, pending, signingKeys } = holdings
  const { identities, user } = session
  const { count, requests, nextCursor } = pending
  const change = useKeyChange(user.userId, async () => {
    const [{ keys }, left] = await Promise.all([call('GET /api/signing/keys', {}), readPending(requests.length)])
    onChange({ ...holdings, pending: left, signingKeys: keys })
  })
  const { step } = change
  const more: Action = {
    name: 'more-requests',
    label: activity.more,
    look: 'secondary',
    do: async () => onChange({ ...holdings, pending: await readMorePending(pending) }),
  }
  if (step.at !== 'rest') return <KeyChange change={change} step={step} pending={pending} userId={user.userId} />
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
        <SigningKeys identities={identities} keys={signingKeys} onChange={change.ask} />
      </section>
      <History waiting={pending} />
    </section>
  )
}

function Waiting({ request }: { request: PendingRequest }) {
  const { requestId, app, handle, expiresAt, organization } = request
  const { words, language } = useSpeech()
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
