import { useId, useState } from 'preact/hooks'
import { TextArea } from '../../components/display/Facts.tsx'
import { ActionForm, Actions } from '../../components/form/Actions.tsx'
import { type Action, useActions } from '../../components/form/use-actions.ts'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { Icon } from '../../components/ui/Icon.tsx'
import { Certificate } from './Certificate.tsx'
import { decodeText, findReceipt } from './files.ts'
import type { Verification } from './verification.ts'
import { useReceiptMessages } from './words.ts'
import { joinNames } from '../../lib/text/lists.ts'

type Missing = 'receipt' | 'text' | 'UTF-8' | undefined
type Done = { verification: Verification; payload: string }

const loadVerification = () => import('./verification.ts')

/** Verifies a receipt that someone has received, without a session. Its files never leave this browser. */
export function VerifyPage() {
  const texts = useReceiptMessages()
  const doing = useActions()
  const [files, setFiles] = useState<File[]>([])
  const [text, setText] = useState('')
  const [missing, setMissing] = useState<Missing>()
  const [done, setDone] = useState<Done>()
  const verify: Action = {
    name: 'verify',
    label: texts.verify,
    icon: 'shield-check',
    do: async () => {
      const contents = await Promise.all(files.map(async (file) => decodeText(await file.arrayBuffer())))
      const decoded = contents.filter((content) => content !== undefined)
      if (decoded.length < contents.length) return setMissing('UTF-8')
      const { receipt, payload = text } = findReceipt(decoded)
      setMissing(receipt === undefined ? 'receipt' : payload === '' ? 'text' : undefined)
      if (receipt === undefined || payload === '') return
      const { verifyHere } = await loadVerification()
      setDone({ verification: await verifyHere(receipt, payload), payload })
    },
  }
  const problems = { receipt: texts.chooseReceipt, 'UTF-8': texts.notText, text: undefined }
  const again: Action = { name: 'again', label: texts.another, look: 'secondary', do: () => setDone(undefined) }
  if (done)
    return (
      <PageLayout title={texts.verifyTitle} step="done" wide>
        <Certificate verification={done.verification} payload={done.payload} names={new Map()}>
          <div class="off-paper">
            <Actions of={[again]} doing={doing} />
          </div>
        </Certificate>
      </PageLayout>
    )
  return (
    <PageLayout title={texts.verifyTitle} step="choose">
      <section class="step">
        <StepHeading>{texts.verifyTitle}</StepHeading>
        <p class="lead">{texts.verifyLead}</p>
        <ActionForm submit={verify} doing={doing}>
          <Files files={files} onChoose={setFiles} problem={problems[missing ?? 'text']} />
          <TextArea
            name="text"
            label={texts.textField}
            value={text}
            onInput={setText}
            hint={texts.textHint}
            problem={missing === 'text' ? texts.enterText : undefined}
            keys="text"
          />
        </ActionForm>
      </section>
    </PageLayout>
  )
}

type FilesProps = { files: File[]; onChoose: (files: File[]) => void; problem: string | undefined }

/** A field for files, which may also be dropped on it. */
function Files({ files, onChoose, problem }: FilesProps) {
  const texts = useReceiptMessages()
  const id = useId()
  return (
    <div class="field">
      <label for={id} class="drop-files">
        <Icon name="upload" size="lg" />
        <span>{files.length === 0 ? texts.files : texts.chosen(joinNames(files.map(({ name }) => name)))}</span>
        <input
          id={id}
          name="files"
          type="file"
          multiple
          accept=".jws,.json,.txt,text/plain,application/jose,application/json"
          aria-invalid={problem !== undefined}
          aria-describedby={`${id}-problem`}
          onChange={({ currentTarget }) => onChoose([...(currentTarget.files ?? [])])}
        />
      </label>
      <div role="alert" id={`${id}-problem`}>
        {problem !== undefined && <p class="problem">{problem}</p>}
      </div>
    </div>
  )
}
