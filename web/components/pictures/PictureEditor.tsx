import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ErrorMessage } from '../form/Dialog.tsx'
import { Avatar } from '../ui/Avatar.tsx'
import './picture-edit.css'
import { withLateTexts } from '../../locales/late-texts.ts'

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

let loaded: ComponentType<PictureEditorProps> | undefined

export async function loadEditor(): Promise<ComponentType<PictureEditorProps>> {
  loaded ??= (await withLateTexts(import('./Editor.tsx'))).Editor
  return loaded
}

/** Shows a picture with what changes it. The editor loads after the page, in the room that it needs. */
export function PictureEditor(props: PictureEditorProps) {
  const [Editor, setEditor] = useState(() => loaded)
  const [problem, setProblem] = useState<unknown>()
  useEffect(() => {
    if (!Editor) void loadEditor().then((ready) => setEditor(() => ready), setProblem)
  }, [])
  if (Editor) return <Editor {...props} />
  return (
    <div class="picture-edit">
      <Avatar name={props.name} picture={props.current} kind={props.kind} size="xl" toneOf={props.toneOf} />
      <ErrorMessage of={problem} />
    </div>
  )
}
