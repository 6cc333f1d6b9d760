import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import type { Health } from '@countersign/protocol/operations/health'
import { useState } from 'preact/hooks'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { useActions } from '../../../components/form/use-actions.ts'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { Facts } from '../../../components/ui/Facts.tsx'
import { saveFile } from '../../../lib/download.ts'
import { formatMoment, formatNumber } from '../../../lib/text/dates.ts'
import { CommandLine } from '../acting/CommandLine.tsx'
import { useOperator } from '../acting/operator.ts'
import { Reading } from '../reading/Reading.tsx'
import { useReading } from '../reading/use-reading.ts'
import { encryptBackup } from './encrypted-backup.ts'
import { useBackupsMessages } from './words.ts'

/** Says when the last backup was created, and creates one that the browser encrypts. */
export function Backups() {
  const words = useBackupsMessages()
  const { ask, may } = useOperator()
  const health = useReading<Health>(() => ask('GET /api/admin/health', {}), [])
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <Reading of={health}>
        {(found) => (
          <>
            <Last health={found} />
            {may('backup.create') && <Create onCreated={health.again} />}
          </>
        )}
      </Reading>
    </>
  )
}

function Last({ health: { checks } }: { health: Health }) {
  const words = useBackupsMessages()
  const { language } = useLocale()
  const at = checks.find(({ name }) => name === 'backup')?.since
  return (
    <Card>
      <Facts of={[{ label: words.last, value: at ? formatMoment(at, language, new Date()) : words.none }]} />
    </Card>
  )
}

const min = pageLimits.backupPassphraseCharactersMin

/** Downloads a backup, encrypted with a passphrase. */
function Create({ onCreated }: { onCreated: () => void }) {
  const words = useBackupsMessages()
  const { askForFile } = useOperator()
  const doing = useActions()
  const [passphrase, setPassphrase] = useState('')
  const [isChecked, setChecked] = useState(false)
  const isShort = passphrase.length < min
  const day = new Date().toISOString().slice(0, 'yyyy-mm-dd'.length)
  const name = `countersign-${day}.age`
  const download = {
    name: 'download-backup',
    label: words.download,
    do: async () => {
      setChecked(true)
      if (isShort) return
      const { body } = await askForFile('GET /api/admin/backup', {})
      if (body) saveFile(await encryptBackup(body, passphrase), name)
      setChecked(false)
      setPassphrase('')
      toast(words.downloaded)
      onCreated()
    },
  }
  return (
    <Card title={words.create} about={words.createWhat}>
      <ActionForm submit={download} doing={doing}>
        <Field
          name="passphrase"
          label={words.passphrase}
          hint={words.passphraseHint(formatNumber(min))}
          problem={isChecked && isShort ? words.tooShort(formatNumber(min)) : undefined}
          value={passphrase}
          onInput={setPassphrase}
          exact
          isCode
        />
        <CommandLine words={['backup', '--out', name]} />
      </ActionForm>
    </Card>
  )
}
