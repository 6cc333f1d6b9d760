import { useEffect, useRef } from 'preact/hooks'
import type { KeyAlarmCode, KeyChange, ShownAlarm } from '../../lib/keys/key-notices.ts'
import { downloadFile } from '../../lib/download.ts'
import { momentOf } from '../../lib/text/dates.ts'
import { keyNoticesMessages as en } from '../../locales/en/pages/key-notices.ts'
import { PageLayout, StepHeading } from '../frame/Frame.tsx'
import { renderInto, renderPage, useLocale, usePageMessages } from '../frame/Root.tsx'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/key-notices.ts')).keyNoticesMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/key-notices.ts')).keyNoticesMessages)
import './key-notices.css'

type Cause = keyof typeof en.causes
type Step = keyof typeof en.steps

/** Cause that the page explains, by the code of the alarm; `history` for all others. */
const causes: Partial<Record<KeyAlarmCode, Cause>> = {
  foreign_key: 'key',
  unlinked_key: 'key',
  no_possession: 'key',
  log_forked: 'log',
  log_rolled_back: 'log',
  other_log_key: 'log',
  no_log_key: 'log',
  promise_overdue: 'promise',
  invalid_promise: 'promise',
  record_missing: 'record',
  record_replayed: 'record',
  record_damaged: 'record',
  newer_record: 'newer',
  unknown_change: 'change',
  log_unreachable: 'unreachable',
  malformed_entry: 'trail',
  other_organization: 'trail',
  sequence_gap: 'trail',
  broken_trail: 'trail',
  other_acts: 'trail',
  malformed_act: 'trail',
  act_out_of_order: 'trail',
  out_of_time: 'trail',
  trail_cut: 'trail',
  trail_rewritten: 'trail',
  act_missing: 'trail',
}

const stepsOf: Partial<Record<Cause, Step[]>> = {
  change: ['stop', 'secure', 'contact'],
  newer: ['reload'],
  unreachable: ['later'],
}

/** Replaces the page by an alarm. The page behind it ends with everything on it. */
export async function showAlarm(alarm: ShownAlarm): Promise<void> {
  await renderPage(() => <Alarm {...alarm} />)
}

function Alarm({ code, evidence }: ShownAlarm) {
  const words = usePageMessages({ en, de, ar })
  const cause = causes[code] ?? 'history'
  const { title, what } = words.causes[cause]
  const save = () => downloadFile(evidence ?? '', 'application/json', 'evidence.json')
  const isHarmless = cause === 'newer' || cause === 'unreachable'
  return (
    <PageLayout title={title} bare={window.top !== window}>
      <section class="step key-alarm" data-alarm={code}>
        {!isHarmless && <p class="key-alarm-stop">{words.stopped}</p>}
        <StepHeading>{title}</StepHeading>
        <p class="lead" role="alert">
          {what} {words.nothingDone}
        </p>
        <h2>{words.doTitle}</h2>
        <ol>
          {(stepsOf[cause] ?? ['stop', 'save', 'contact']).map((step) => (
            <li key={step}>{words.steps[step]}</li>
          ))}
        </ol>
        <div class="actions">
          {evidence !== undefined && cause !== 'newer' && (
            <button type="button" class="button primary" data-action="save-evidence" onClick={save}>
              {words.download}
            </button>
          )}
          {isHarmless && (
            <button type="button" class="button primary" data-action="reload" onClick={() => location.reload()}>
              {words.reload}
            </button>
          )}
        </div>
        {evidence !== undefined && cause !== 'newer' && (
          <p class="reference">{cause === 'trail' ? words.trailContents : words.contents}</p>
        )}
        <p class="reference">
          {words.code} <code>{code}</code>
        </p>
      </section>
    </PageLayout>
  )
}

/** Shows changes of keys over the page. Resolves with whether the user knows of them. */
export async function showChanges(changes: KeyChange[]): Promise<boolean> {
  const place = document.body.appendChild(document.createElement('div'))
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const clear = await renderInto(place, () => <Changes changes={changes} onAnswer={resolve} />)
  const isKnown = await promise
  clear()
  place.remove()
  return isKnown
}

function Changes({ changes, onAnswer }: { changes: KeyChange[]; onAnswer: (isKnown: boolean) => void }) {
  const { changes: words } = usePageMessages({ en, de, ar })
  const { language } = useLocale()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => before instanceof HTMLElement && before.focus()
  }, [])
  // Escape answers nothing: whether a change was the user's own must be said.
  const stay = (event: Event) => event.preventDefault()
  return (
    <dialog
      ref={dialog}
      class="dialog key-changes"
      aria-labelledby="key-changes-title"
      onCancel={stay}
      onClose={() => dialog.current?.showModal()}
    >
      <h2 id="key-changes-title">{words.title}</h2>
      <p>{words.lead}</p>
      <ul>
        {changes.map(({ identityId, handle, kind, at }) => (
          <li key={identityId}>
            {words[kind](handle)}
            {at !== null && <> {words.at(momentOf(at, language))}</>}.
          </li>
        ))}
      </ul>
      <p>{words.question}</p>
      <div class="actions">
        <button type="button" class="button primary" data-action="known-change" onClick={() => onAnswer(true)}>
          {words.yes}
        </button>
        <button type="button" class="button secondary" data-action="unknown-change" onClick={() => onAnswer(false)}>
          {words.no}
        </button>
      </div>
    </dialog>
  )
}

/** Says above the page that the keys could not be checked now. The page continues. */
export async function showUnchecked(): Promise<void> {
  if (document.querySelector('.key-note')) return
  const place = document.createElement('div')
  document.body.prepend(place)
  await renderInto(place, Unchecked)
}

function Unchecked() {
  const words = usePageMessages({ en, de, ar })
  return (
    <p class="key-note" role="status">
      {words.unchecked}
    </p>
  )
}
