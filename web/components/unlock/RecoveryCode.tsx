import { useState } from 'preact/hooks'
import { downloadFile } from '../../lib/download.ts'
import { readSiteSettings } from '../../lib/page-data.ts'
import { ActionButton, Actions } from '../form/Actions.tsx'
import { ErrorMessage } from '../form/Dialog.tsx'
import type { Action, ActionState } from '../form/use-actions.ts'
import { StepHeading } from '../frame/Frame.tsx'
import { useLocale, useMessages } from '../frame/Root.tsx'
import { Icon } from '../ui/Icon.tsx'
import { atHandle } from '../../lib/text/handle.ts'
import { localeOf } from '../../locales/locale.ts'
import './unlock.css'

type RecoveryCodeProps = {
  code: string
  handle: string
  opensKeys: boolean
  doing: ActionState
  /** What the user reads first, unless it is that they should save the code. */
  title?: string
  lead?: string
  /** Label of the button that confirms. */
  confirm?: string
  level?: 1 | 2
  onSaved: () => unknown
  onCancel?: (() => void) | undefined
}

/** Four groups of four with their dashes: half of a code, which fits on one line. */
const halfCharacters = 20

/** Shows a new recovery code. It cannot be shown again, and takes effect when the user confirms that they saved it. */
export function RecoveryCode(props: RecoveryCodeProps) {
  const { code, handle, opensKeys, doing, title, lead, confirm, level, onSaved, onCancel } = props
  const { recovery: words, frame } = useMessages()
  const saved: Action = { name: 'confirm-recovery-saved', label: confirm ?? words.saved, do: onSaved }
  const cancel: Action[] = onCancel ? [{ name: 'cancel', label: frame.cancel, look: 'ghost', do: onCancel }] : []
  return (
    <section class="stack loose recovery">
      <div class="stack tight">
        <StepHeading level={level ?? 1}>{title ?? words.title}</StepHeading>
        {lead !== undefined && <p class="lead">{lead}</p>}
        <p class="lead">{opensKeys ? words.why : words.whyWithoutPrf}</p>
      </div>
      <Keeping code={code} handle={handle} />
      <PrintedFacts handle={handle} />
      <div class="stack tight confirm-saved">
        <ErrorMessage of={doing.problem} />
        <ActionButton action={saved} doing={doing} />
        <p class="hint">{words.countsOnce}</p>
        {cancel.map((action) => (
          <ActionButton key={action.name} action={action} doing={doing} />
        ))}
      </div>
    </section>
  )
}

type Way = 'copied' | 'downloaded' | 'printed'

/** Shows the code, with ways to keep it, and says what has been done. */
function Keeping({ code, handle }: Pick<RecoveryCodeProps, 'code' | 'handle'>) {
  const { recovery: words, frame } = useMessages()
  const [way, setWay] = useState<Way>()
  const copy = () => void navigator.clipboard.writeText(code).then(() => setWay('copied'), reportError)
  const download = () => {
    const text = words.fileText(code, location.host, handle, readSiteSettings().brand.name)
    downloadFile(text, 'text/plain;charset=utf-8', words.fileName)
    setWay('downloaded')
  }
  const onPrint = () => {
    print()
    setWay('printed')
  }
  return (
    <div class="stack">
      <div class="secret" role="group" aria-label={words.label}>
        <output name="recoveryCode">
          <span>{code.slice(0, halfCharacters)}</span>
          <span>{code.slice(halfCharacters)}</span>
        </output>
      </div>
      <div class="thirds">
        <button type="button" class="button" data-action="copy-code" onClick={copy}>
          <Icon name="copy" size="sm" />
          {frame.copy}
        </button>
        <button type="button" class="button" data-action="download-code" onClick={download}>
          <Icon name="download" size="sm" />
          {words.download}
        </button>
        <button type="button" class="button" data-action="print-code" onClick={onPrint}>
          <Icon name="printer" size="sm" />
          {words.print}
        </button>
      </div>
      <div role="status">
        {way && (
          <p class="said ok">
            <Icon name="circle-check" size="sm" />
            {words.kept[way]}
          </p>
        )}
      </div>
    </div>
  )
}

/** What stands on the printed page beside the code: without it, its user would not know later what it is for. */
function PrintedFacts({ handle }: Pick<RecoveryCodeProps, 'handle'>) {
  const { language, words } = useLocale()
  const { recovery } = words
  const today = new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'long' }).format(new Date())
  return (
    <div class="printed" aria-hidden="true">
      <dl class="facts">
        <div class="fact">
          <dt>{recovery.printedAccount}</dt>
          <dd>{atHandle(handle)}</dd>
        </div>
        <div class="fact">
          <dt>{recovery.printedSite}</dt>
          <dd>{location.host}</dd>
        </div>
        <div class="fact">
          <dt>{recovery.printedOn}</dt>
          <dd>{today}</dd>
        </div>
      </dl>
      <p>{recovery.printedUse}</p>
    </div>
  )
}

type ConfirmPasskeyAgainProps = { doing: ActionState; onTouch: () => Promise<void>; onGoWithout: () => Promise<void> }

/** Asks for the new passkey once more, because its registration did not evaluate the PRF. */
export function ConfirmPasskeyAgain({ doing, onTouch, onGoWithout }: ConfirmPasskeyAgainProps) {
  const words = useMessages().register
  const actions: Action[] = [
    { name: 'unlock', label: words.touchAgain, icon: 'fingerprint-pattern', do: onTouch },
    { name: 'go-without', label: words.withoutPrf, look: 'ghost', do: onGoWithout },
  ]
  return (
    <section class="stack loose">
      <div class="stack tight">
        <StepHeading>{words.madeTitle}</StepHeading>
        <p class="lead">{words.touchAgainWhy}</p>
      </div>
      <Actions of={actions} doing={doing} />
    </section>
  )
}
