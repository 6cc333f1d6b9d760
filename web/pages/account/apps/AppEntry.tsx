import type { Authorization } from '@countersign/protocol/oauth/authorizations'
import { parseScope } from '@countersign/protocol/formats/scope'
import { dayOf, formatAgo } from '../../../lib/text/dates.ts'
import { redirectTargetLabel } from '../../../lib/navigation.ts'
import { shortScopeLabels } from '../../../lib/text/scope-words.ts'
import { useLocale } from '../words.ts'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { useAccountWords } from '../words.ts'

type Props = {
  of: Authorization
  handle: string
  /** While a dialog is open, only its button has the hook. */
  isDialogOpen: boolean
  onKey: () => void
  onDisconnect: () => void
}

/** A connected app: as which identity, since when, and what it sees. */
export function AppEntry({ of: app, handle, isDialogOpen, onKey, onDisconnect }: Props) {
  const words = useAccountWords().apps
  const { words: shared, language } = useLocale()
  const { appName, appIconUrl, appWebsiteUrl, clientId, scope, createdAt, lastAuthorizedAt, encryptionMode } = app
  const now = new Date()
  const facts = [
    words.since(handle, dayOf(createdAt, language, now)),
    words.used(formatAgo(lastAuthorizedAt, language, now)),
  ]
  const labels = shortScopeLabels(parseScope(scope), shared.scopeLabels)
  return (
    <li data-client-id={clientId}>
      <Avatar kind="app" name={appName} picture={appIconUrl} toneOf={clientId} />
      <div class="body">
        <strong>
          {appName}
          {encryptionMode !== null && (
            <Chip tone="pen" icon="lock">
              {words.endToEnd}
            </Chip>
          )}
        </strong>
        {appWebsiteUrl !== null && <small class="place">{redirectTargetLabel(appWebsiteUrl)}</small>}
        <small>{facts.join(' · ')}</small>
        {labels.length > 0 && (
          <small class="grants">{new Intl.ListFormat(language, { type: 'unit' }).format(labels)}</small>
        )}
      </div>
      <div class="acts">
        {encryptionMode !== null && (
          <button
            type="button"
            class="button"
            data-action="key-places"
            aria-label={words.keyOf(appName)}
            onClick={onKey}
          >
            {shared.apps.key}
          </button>
        )}
        <button
          type="button"
          class="button danger-quiet"
          aria-label={words.disconnectOne(appName)}
          data-action={isDialogOpen ? undefined : 'revoke'}
          aria-haspopup="dialog"
          onClick={onDisconnect}
        >
          {shared.apps.disconnect}
        </button>
      </div>
    </li>
  )
}
