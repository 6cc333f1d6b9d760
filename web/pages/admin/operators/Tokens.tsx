import type { AdminToken, NewAdminToken } from '@countersign/protocol/accounts/admin-tokens'
import { useState } from 'preact/hooks'
import { useLocale } from '../../../components/frame/Root.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { Menu } from '../../../components/ui/Menu.tsx'
import { dayOf, formatMomentInSentence } from '../../../lib/text/dates.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { joinNames, joinValues } from '../../../lib/text/lists.ts'
import { useOperator } from '../acting/operator.ts'
import { Reading } from '../reading/Reading.tsx'
import { useReading } from '../reading/use-reading.ts'
import { CreateToken } from './CreateToken.tsx'
import { IssuedToken, RevokeToken, RotateToken } from './TokenDialogs.tsx'
import { useOperatorsMessages } from './words.ts'

type DialogState = 'create' | { about: 'rotate' | 'revoke'; token: AdminToken }

/** Lists the admin tokens, by which programs call the admin API. */
export function Tokens() {
  const { tokens: words } = useOperatorsMessages()
  const { ask, may } = useOperator()
  const [dialog, setDialog] = useState<DialogState>()
  const [issued, setIssued] = useState<NewAdminToken>()
  const tokens = useReading(async () => (await ask('GET /api/admin/tokens', {})).tokens, [])
  const close = () => setDialog(undefined)
  const done = (made?: NewAdminToken) => {
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
          <button type="button" class="button" data-action="ask-create-token" onClick={() => setDialog('create')}>
            <Icon name="plus" size="sm" />
            {words.add}
          </button>
        )
      }
    >
      <Reading of={tokens}>
        {(found) =>
          found.length === 0 ? (
            <Empty icon="key-round" title={words.none} />
          ) : (
            <ul class="list">
              {found.map((token) => (
                <TokenRow key={token.tokenId} token={token} onAsk={(about) => setDialog({ about, token })} />
              ))}
            </ul>
          )
        }
      </Reading>
      {dialog === 'create' && <CreateToken onDone={done} onClose={close} />}
      {typeof dialog === 'object' && dialog.about === 'rotate' && (
        <RotateToken token={dialog.token} onDone={done} onClose={close} />
      )}
      {typeof dialog === 'object' && dialog.about === 'revoke' && (
        <RevokeToken token={dialog.token} onDone={done} onClose={close} />
      )}
      {issued && <IssuedToken issued={issued} onClose={() => setIssued(undefined)} />}
    </Card>
  )
}

function TokenRow({ token, onAsk }: { token: AdminToken; onAsk: (about: 'rotate' | 'revoke') => void }) {
  const { tokens: words } = useOperatorsMessages()
  const { language } = useLocale()
  const { may } = useOperator()
  const { name, permissions, networks, expiresAt, lastUsedAt } = token
  const now = new Date()
  const isExpired = new Date(expiresAt) <= now
  return (
    <li>
      <span class="glyph sm">
        <Icon name="key-round" size="sm" />
      </span>
      <div class="body">
        <strong>
          {name} {isExpired && <Chip tone="bad">{words.expired}</Chip>}
        </strong>
        <small dir="ltr">{joinValues(permissions)}</small>
        {networks.length > 0 && <small>{words.onlyFrom(joinNames(networks))}</small>}
        <small>
          {words.expires(dayOf(expiresAt, language, now))} ·{' '}
          {lastUsedAt === null ? words.neverUsed : words.lastUsed(formatMomentInSentence(lastUsedAt, language, now))}
        </small>
      </div>
      {may('tokens.manage') && (
        <div class="acts">
          <Menu
            label={words.actions(isolate(name))}
            action="token-menu"
            items={[
              { label: words.rotate, icon: 'refresh-cw', action: 'ask-rotate-token', onChoose: () => onAsk('rotate') },
              {
                label: words.revoke,
                icon: 'ban',
                danger: true,
                action: 'ask-revoke-token',
                onChoose: () => onAsk('revoke'),
              },
            ]}
          />
        </div>
      )}
    </li>
  )
}
