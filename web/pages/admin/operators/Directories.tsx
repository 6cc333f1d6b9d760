import type { NewScimToken, ScimToken } from '@countersign/protocol/operations/scim-tokens'
import { useState } from 'preact/hooks'
import { useLocale } from '../../../components/frame/Root.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { Menu } from '../../../components/ui/Menu.tsx'
import { dayOf, formatMomentInSentence } from '../../../lib/text/dates.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { useOperator } from '../acting/operator.ts'
import { Reading } from '../reading/Reading.tsx'
import { useReading } from '../reading/use-reading.ts'
import { CreateScimToken, DeleteScimToken, IssuedScimToken, RotateScimToken } from './DirectoryDialogs.tsx'
import { useOperatorsMessages } from './words.ts'

type DialogState = 'create' | { about: 'rotate' | 'delete'; token: ScimToken }

/** Lists the directories that provision identities and groups by SCIM, each with its token. */
export function Directories() {
  const { directories: words } = useOperatorsMessages()
  const { ask, may } = useOperator()
  const [dialog, setDialog] = useState<DialogState>()
  const [issued, setIssued] = useState<NewScimToken>()
  const tokens = useReading(async () => (await ask('GET /api/admin/scim-tokens', {})).tokens, [])
  const close = () => setDialog(undefined)
  const done = (made?: NewScimToken) => {
    close()
    setIssued(made)
    tokens.again()
  }
  return (
    <Card
      flush
      title={words.title}
      about={words.about}
      actions={
        may('tokens.manage') && (
          <button type="button" class="button" data-action="ask-create-scim-token" onClick={() => setDialog('create')}>
            <Icon name="plus" size="sm" />
            {words.add}
          </button>
        )
      }
    >
      <Reading of={tokens}>
        {(found) =>
          found.length === 0 ? (
            <Empty icon="users" title={words.none} />
          ) : (
            <ul class="list">
              {found.map((token) => (
                <DirectoryRow key={token.tokenId} token={token} onAsk={(about) => setDialog({ about, token })} />
              ))}
            </ul>
          )
        }
      </Reading>
      {dialog === 'create' && <CreateScimToken onDone={done} onClose={close} />}
      {typeof dialog === 'object' && dialog.about === 'rotate' && (
        <RotateScimToken token={dialog.token} onDone={done} onClose={close} />
      )}
      {typeof dialog === 'object' && dialog.about === 'delete' && (
        <DeleteScimToken token={dialog.token} onDone={done} onClose={close} />
      )}
      {issued && <IssuedScimToken issued={issued} onClose={() => setIssued(undefined)} />}
    </Card>
  )
}

function DirectoryRow({ token, onAsk }: { token: ScimToken; onAsk: (about: 'rotate' | 'delete') => void }) {
  const { directories: words, tokens: shared } = useOperatorsMessages()
  const { language } = useLocale()
  const { may } = useOperator()
  const { name, expiresAt, lastUsedAt } = token
  const now = new Date()
  const used =
    lastUsedAt === null ? shared.neverUsed : shared.lastUsed(formatMomentInSentence(lastUsedAt, language, now))
  return (
    <li>
      <span class="glyph sm">
        <Icon name="users" size="sm" />
      </span>
      <div class="body">
        <strong>
          {name} {new Date(expiresAt) <= now && <Chip tone="bad">{shared.expired}</Chip>}
        </strong>
        <small>
          {shared.expires(dayOf(expiresAt, language, now))} · {used}
        </small>
      </div>
      {may('tokens.manage') && (
        <div class="acts">
          <Menu
            label={shared.actions(isolate(name))}
            action="scim-token-menu"
            items={[
              {
                label: words.rotate,
                icon: 'refresh-cw',
                action: 'ask-rotate-scim-token',
                onChoose: () => onAsk('rotate'),
              },
              {
                label: words.delete,
                icon: 'trash',
                danger: true,
                action: 'ask-delete-scim-token',
                onChoose: () => onAsk('delete'),
              },
            ]}
          />
        </div>
      )}
    </li>
  )
}
