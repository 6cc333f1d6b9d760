import type { SettingRevision, Settings } from '@countersign/protocol/operations/settings'
import { useState } from 'preact/hooks'
import { useLocale } from '../../../components/frame/Root.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { formatMoment, formatNumber } from '../../../lib/text/dates.ts'
import { useOperator } from '../acting/operator.ts'
import { useActorName } from '../audit/use-actor-name.ts'
import { More } from '../reading/More.tsx'
import { Reading } from '../reading/Reading.tsx'
import type { List } from '../reading/use-list.ts'
import { defaultRevision, type Restorable, RestoreSettings } from './RestoreSettings.tsx'
import type { Replace } from './use-settings.ts'
import { useNamedValue } from './value-names.ts'
import { useSettingsMessages } from './words.ts'

type Props = { current: Settings; revisions: List<SettingRevision>; replace: Replace }

/** Lists the changes of the settings, newest first. Each state can be restored. */
export function History({ current, revisions, replace }: Props) {
  const words = useSettingsMessages()
  const [chosen, choose] = useState<Restorable>()
  return (
    <Card flush title={words.history}>
      <Reading of={revisions}>
        {({ items, nextCursor }) =>
          items.length === 0 ? (
            <Empty icon="clock" title={words.noHistory}>
              <p>{words.noHistoryWhat}</p>
            </Empty>
          ) : (
            <ol class="list setting-history">
              {items.map((revision) => (
                <Revision key={revision.revision} of={revision} current={current} onChoose={choose} />
              ))}
              {nextCursor === null && <Defaults onChoose={choose} />}
            </ol>
          )
        }
      </Reading>
      <More of={revisions} />
      {chosen && <RestoreSettings of={chosen} current={current} replace={replace} onClose={() => choose(undefined)} />}
    </Card>
  )
}

type Choosing = { onChoose: (revision: Restorable) => void }

function Revision({ of, current, onChoose }: Choosing & { of: SettingRevision; current: Settings }) {
  const words = useSettingsMessages()
  const { language } = useLocale()
  const nameOf = useNamedValue()
  const operatorName = useActorName()
  const { revision, at, changed, values, restoredFrom, operator } = of
  const isCurrent = revision === current.revision
  return (
    <li>
      <span class="glyph sm">
        <Icon name={restoredFrom === null ? 'pencil' : 'refresh-cw'} size="sm" />
      </span>
      <div class="body">
        <strong>
          {words.revision(formatNumber(revision))} {isCurrent && <Chip tone="ok">{words.current}</Chip>}
        </strong>
        {changed.map((key) => (
          <span key={key}>{nameOf(key, values[key] ?? current.settings[key]?.default ?? null)}</span>
        ))}
        <small>
          <time dateTime={at}>{formatMoment(at, language, new Date())}</time> · {operatorName(operator)}
          {restoredFrom !== null && ` · ${words.restoredFrom(formatNumber(restoredFrom))}`}
        </small>
      </div>
      {!isCurrent && <RestoreButton of={of} onChoose={onChoose} />}
    </li>
  )
}

function Defaults({ onChoose }: Choosing) {
  const words = useSettingsMessages()
  return (
    <li>
      <span class="glyph sm">
        <Icon name="settings" size="sm" />
      </span>
      <div class="body">
        <strong>{words.defaults}</strong>
        <small>{words.defaultsWhat}</small>
      </div>
      <RestoreButton of={defaultRevision} onChoose={onChoose} />
    </li>
  )
}

function RestoreButton({ of, onChoose }: Choosing & { of: Restorable }) {
  const words = useSettingsMessages()
  const { may } = useOperator()
  if (!may('settings.manage')) return null
  const { revision } = of
  return (
    <div class="acts">
      <button
        type="button"
        class="button"
        aria-label={revision === 0 ? words.restoreDefaults : words.restoreTitle(formatNumber(revision))}
        data-action={`ask-restore-${revision}`}
        onClick={() => onChoose(of)}
      >
        {words.restore}
      </button>
    </div>
  )
}
