import { useEffect, useState } from 'preact/hooks'
import { TextArea } from '../../../components/display/Facts.tsx'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { Chip, Note } from '../../../components/ui/Chip.tsx'
import { CodeBlock } from '../../../components/ui/Code.tsx'
import { atHandle } from '../../../lib/text/handle.ts'
import { noteCode } from '../code.ts'
import type { DemoApp, NoteKey } from '../Playground.tsx'
import { Start } from '../steps/Result.tsx'
import { noteStorageKey } from '../tour.ts'
import { usePlaygroundWords } from '../words.ts'
import { decryptNote, encryptNote, newEphemeralKey } from './note-cipher.ts'

/** A stored note, decrypted. Without a `note` it was encrypted with another key. */
type Decrypted = { of: NoteKey; ciphertext: string; note: string | undefined }

/** The fifth step: the app gets a key, and stores only what it has encrypted with it. */
export function Encryption({ app }: { app: DemoApp }) {
  const words = usePlaygroundWords()
  const [ciphertext, setCiphertext] = useState(() => sessionStorage.getItem(noteStorageKey) ?? undefined)
  const decrypted = useDecrypted(app, ciphertext)
  const [written, setWritten] = useState<string>()
  const note = written ?? decrypted?.note ?? words.firstNote
  const identity = app.tour.identities.at(-1)
  const getKey: Action = {
    name: 'get-key',
    label: ciphertext === undefined ? words.getKey : words.getKeyAgain,
    icon: 'key-round',
    do: async () =>
      app.begin('encryption', {
        client_id: app.view.notes.clientId,
        scope: 'openid profile e2ee:symmetric',
        app_key_jwk: await newEphemeralKey(),
        ...(identity && { identity_id: identity.sub }),
      }),
  }
  const store = (encrypted: string) => {
    sessionStorage.setItem(noteStorageKey, encrypted)
    setCiphertext(encrypted)
  }
  const forget = () => {
    setWritten(undefined)
    app.forgetNoteKey()
  }
  return (
    <>
      {app.noteKey && <WriteNote of={app.noteKey} note={note} onWrite={setWritten} onStore={store} onForget={forget} />}
      {ciphertext !== undefined && !app.isRedeeming && (
        <Stored ciphertext={ciphertext} hasKey={app.noteKey !== undefined} decrypted={decrypted} />
      )}
      {!app.noteKey && <Start app={app} actions={[getKey]} />}
      {decrypted?.note !== undefined && (
        <Note>
          {words.disconnectAt} <a href="/account/apps">{words.accountApps}</a>
        </Note>
      )}
      {!app.isRedeeming && <CodeBlock code={noteCode} label={words.code} action="copy-code" />}
    </>
  )
}

/** Decrypts the stored note as soon as the page has a key. */
function useDecrypted({ noteKey: of, complete }: DemoApp, ciphertext: string | undefined): Decrypted | undefined {
  const [decrypted, setDecrypted] = useState<Decrypted>()
  useEffect(() => {
    if (!of || ciphertext === undefined) return
    const show = (note: string | undefined) => {
      setDecrypted({ of, ciphertext, note })
      if (note !== undefined) complete('encryption')
    }
    void decryptNote(of.key, ciphertext).then(show, reportError)
  }, [of, ciphertext])
  return decrypted && decrypted.of === of && decrypted.ciphertext === ciphertext ? decrypted : undefined
}

type WriteNoteProps = {
  of: NoteKey
  note: string
  onWrite: (note: string) => void
  onStore: (ciphertext: string) => void
  onForget: () => void
}

function WriteNote({ of: { key, handle }, note, onWrite, onStore, onForget }: WriteNoteProps) {
  const words = usePlaygroundWords()
  const doing = useActions()
  const encrypt: Action = {
    name: 'encrypt-note',
    label: words.encryptNote,
    icon: 'lock',
    do: async () => onStore(await encryptNote(key, note)),
  }
  const forget: Action = { name: 'forget-key', label: words.forgetKey, look: 'secondary', icon: 'x', do: onForget }
  return (
    <Card
      title={words.yourNote}
      actions={
        <Chip tone="ok" icon="key-round">
          {words.keyOf(atHandle(handle))}
        </Chip>
      }
    >
      <ActionForm submit={encrypt} others={[forget]} doing={doing}>
        <TextArea
          name="note"
          label={words.noteField}
          hint={words.noteHint}
          value={note}
          onInput={onWrite}
          problem={undefined}
          keys="text"
          isProse
        />
      </ActionForm>
    </Card>
  )
}

type StoredProps = { ciphertext: string; hasKey: boolean; decrypted: Decrypted | undefined }

function Stored({ ciphertext, hasKey, decrypted }: StoredProps) {
  const words = usePlaygroundWords()
  return (
    <div class="grid-2 even">
      <Card title={words.storedNote}>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- Long texts scroll, also by keyboard. */}
        <pre class="exact-text ciphertext" tabIndex={0} dir="ltr">
          {ciphertext}
        </pre>
        <p class="soft small">{words.storedWhere}</p>
      </Card>
      <Card title={words.decryptedNote}>
        {!hasKey && <Note tone="wait">{words.noKey}</Note>}
        {decrypted && decrypted.note === undefined && <Note tone="bad">{words.otherKey}</Note>}
        {decrypted?.note !== undefined && (
          <p class="decrypted" dir="auto">
            {decrypted.note}
          </p>
        )}
      </Card>
    </div>
  )
}
