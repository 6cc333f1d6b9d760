import type { TargetedDragEvent, TargetedInputEvent } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { ErrorMessage } from '../form/Dialog.tsx'
import { type Action, useActions } from '../form/use-actions.ts'
import { ActionButton } from '../form/Actions.tsx'
import { toast } from '../frame/toast.ts'
import { Avatar } from '../ui/Avatar.tsx'
import { Icon } from '../ui/Icon.tsx'
import { CropDialog } from './CropDialog.tsx'
import { usePictureWords } from './picture-words.ts'
import './picture-edit.css'
import './pictures.css'

export type PictureEditorProps = {
  /** URL of the picture that is shown now. */
  current?: string | null | undefined
  name: string
  kind: 'person' | 'app' | 'organization'
  toneOf?: string
  /** Uploads a square picture of at most 512 pixels, WebP or PNG. Its error is shown in the dialog. */
  onSave: (picture: Blob) => Promise<void>
  onRemove: () => Promise<void>
}

type Problem = 'unreadable' | 'tooSmall' | 'tooLarge'

const fileBytesMax = 30_000_000
const sideMin = 64

/**
 * Shows a picture with what changes it: a file, chosen or dropped, of which the user then chooses a square part. It
 * loads with the part of a page that it is in, because on narrow screens it needs more room than the picture alone.
 */
export function PictureEditor({ current, name, kind, toneOf, onSave, onRemove }: PictureEditorProps) {
  const words = usePictureWords()
  const input = useRef<HTMLInputElement>(null)
  const [opened, setOpened] = useState<ImageBitmap>()
  const [problem, setProblem] = useState<Problem>()
  const doing = useActions()
  const open = async (file: File | undefined) => {
    if (!file) return
    const read = await readPicture(file)
    setProblem(typeof read === 'string' ? read : undefined)
    setOpened(typeof read === 'string' ? undefined : read)
  }
  const onChoose = (event: TargetedInputEvent<HTMLInputElement>) => {
    const [file] = event.currentTarget.files ?? []
    void open(file)
    // The same file can be chosen again.
    event.currentTarget.value = ''
  }
  const onDrop = (event: TargetedDragEvent<HTMLElement>) => {
    event.preventDefault()
    void open(event.dataTransfer?.files[0])
  }
  const choose: Action = {
    name: 'choose-picture',
    label: current ? words.change : words.upload,
    look: 'secondary',
    icon: 'upload',
    do: () => input.current?.click(),
  }
  const remove: Action = {
    name: 'remove-picture',
    label: words.remove,
    look: 'ghost',
    async do() {
      await onRemove()
      toast(words.removed)
    },
  }
  const save = async (picture: Blob) => {
    await onSave(picture)
    setOpened(undefined)
    toast(words.saved)
  }
  return (
    <div class="picture-edit" onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
      <Avatar name={name} picture={current} kind={kind} size="xl" toneOf={toneOf} />
      <div class="stack tight">
        <div class="row">
          <ActionButton action={choose} doing={doing} />
          {current && <ActionButton action={remove} doing={doing} />}
        </div>
        <input ref={input} type="file" name="picture" accept="image/*" hidden onChange={onChoose} />
        {problem ? (
          <p class="problem with-icon" role="alert">
            <Icon name="circle-alert" size="sm" />
            {words.problems[problem]}
          </p>
        ) : (
          <p class="hint">{words.hint}</p>
        )}
        <ErrorMessage of={doing.problem} />
      </div>
      {opened && (
        <CropDialog picture={opened} kind={kind} words={words} onSave={save} onClose={() => setOpened(undefined)} />
      )}
    </div>
  )
}

/** Decodes a file in the browser, upright as its camera recorded it. */
async function readPicture(file: File): Promise<ImageBitmap | Problem> {
  if (file.size > fileBytesMax) return 'tooLarge'
  const picture = await createImageBitmap(file, { imageOrientation: 'from-image' }).catch(() => undefined)
  if (!picture) return 'unreadable'
  return Math.min(picture.width, picture.height) < sideMin ? 'tooSmall' : picture
}
