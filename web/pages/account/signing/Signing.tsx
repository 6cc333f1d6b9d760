import type { PendingRequest } from '@countersign/protocol/signing/pending-signing'
import { call } from '../../../lib/api/call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { useLocale } from '../words.ts'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { timeLeftUntil } from '../../../lib/text/time-left.ts'
import type { AccountData } from '../Account.tsx'
import { SigningHistory } from './History.tsx'
import { ReplaceSigningKey } from './ReplaceSigningKey.tsx'
import { useReplaceSigningKey } from './key-flow.ts'
import { type Pending, readMorePending, readPending } from './pending.ts'
import { RequestTitle } from './RequestTitle.tsx'
import { SigningKeys } from './SigningKeys.tsx'
import { useSigningMessages, useReceiptMessages } from './words.ts'
import './signing.css'

type Props = { data: AccountData; onChange: (data: AccountData) => void }

/** Shows the pending signing requests of the user, and their signing keys. */
export function Signing({ data, onChange }: Props) {
  const { signing: words, activity } = useLocale().words
  const texts = useSigningMessages()
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
    <div class="stack signing">
      <PageHead title={words.title} lead={<span role="status">{words.waiting(count)}</span>} />
      <Card title={texts.inbox} accent={count > 0} flush actions={count > 0 && <Counts pending={pending} />}>
        {count === 0 ? (
          <Empty icon="inbox" title={texts.emptyInbox}>
            <p>{texts.emptyInboxWhat}</p>
          </Empty>
        ) : (
          <ul class="list">
            {requests.map((request) => (
              <Waiting key={request.requestId} request={request} />
            ))}
          </ul>
        )}
      </Card>
      {nextCursor !== undefined && <Actions of={[more]} doing={doing} />}
      <SigningHistory waiting={pending} />
      <Card title={words.keysTitle} about={texts.keysAbout} flush>
        <p role="status" class="done">
          {step.done && words.inForce(step.done.handle)}
        </p>
        <SigningKeys identities={identities} keys={signingKeys} onChange={change.confirm} />
      </Card>
      <p>
        <a class="link" href="/verify" data-action="verify-receipt">
          <Icon name="shield-check" size="sm" />
          {texts.verify}
        </a>
      </p>
    </div>
  )
}

/** How many of the requests are personal, and how many are for organizations. */
function Counts({ pending: { count, identities } }: { pending: Pending }) {
  const texts = useSigningMessages()
  const personal = identities.reduce((sum, each) => sum + each.count, 0)
  return (
    <span class="row">
      {personal > 0 && <Chip tone="wait">{texts.personal(personal)}</Chip>}
      {count > personal && (
        <Chip tone="wait" icon="building">
          {texts.ofOrganizations(count - personal)}
        </Chip>
      )}
    </span>
  )
}

function Waiting({ request }: { request: PendingRequest }) {
  const { requestId, app, title, handle, expiresAt, organization } = request
  const { words, language } = useLocale()
  const { left } = useReceiptMessages()
  const { as, asMember, readOf } = words.signing
  return (
    <li>
      <Avatar kind="app" name={app.name} toneOf={app.clientId} />
      <div class="body">
        <strong>
          {app.name}
          {organization && <Chip icon="building">{organization.name}</Chip>}
        </strong>
        <RequestTitle of={title} />
        <small>{organization ? asMember(organization.name, handle) : as(handle)}</small>
      </div>
      <div class="acts">
        <Chip tone="wait" icon="clock">
          {left(timeLeftUntil(expiresAt, language, new Date()))}
        </Chip>
        <a class="button" href={`/sign?requestId=${requestId}`} aria-label={readOf(app.name)}>
          {words.signing.read}
        </a>
      </div>
    </li>
  )
}
