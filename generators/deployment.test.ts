import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const chart = join(root, 'deploy/helm/countersign')
const values = join(root, 'deploy/kubernetes/values.yaml')
const helmModule = 'helm.sh/helm/v3/cmd/helm@v3.22.0'
const kubernetesValidate = 'kubernetes-validate==1.37.0'
/** The oldest version of Kubernetes that the chart admits, and a newer one. */
const versions = ['1.30', '1.36']

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>
const within = (...names: string[]) => join(folder.path, ...names)
const helm = (...words: string[]) => run(within('helm'), words)

before(async () => {
  folder = await mkdtempDisposable(join(tmpdir(), 'countersign-deployment-'))
  // Compiled without optimization: it runs for a second.
  const options = ['install', '-gcflags=all=-N -l', '-ldflags=-s -w', helmModule]
  await run('go', options, { env: { ...process.env, GOBIN: folder.path }, maxBuffer: 64 * 1024 ** 2 })
  await run('python3', ['-m', 'venv', within('venv')])
  await run(within('venv/bin/python'), ['-m', 'pip', 'install', '--quiet', kubernetesValidate])
})
after(() => folder[Symbol.asyncDispose]())

test('CLI-20 the chart renders valid objects, with and without all of its options', async () => {
  await helm('lint', '--strict', chart, '--values', values)
  const all = ['metrics.podMonitor=true', 'metrics.rules=true', 'metrics.dashboard=true', 'replicas=1']
  const more = ['metrics.fromNamespaces={monitoring}', 'settings.SMTP_URL=smtps://mail.example', 'ingress.className=a']
  const ofSecret = ['databaseCa.secretName=a', 'metrics.labels.release=monitoring']
  for (const version of versions)
    for (const set of [[], [...all, ...more, ...ofSecret], ['databaseCa.configMapName=a']]) {
      const options = ['--values', values, '--kube-version', version, ...set.flatMap((value) => ['--set', value])]
      const { stdout } = await helm('template', 'countersign', chart, ...options)
      await writeFile(within('objects.yaml'), stdout)
      await run(within('venv/bin/kubernetes-validate'), ['--strict', '-k', version, within('objects.yaml')])
    }
})

test('the manifest is what the chart renders', async () => {
  const { stdout } = await helm('template', 'countersign', chart, '--values', values, '--kube-version', '1.30')
  const manifest = await readFile(join(root, 'deploy/kubernetes/countersign.yaml'), 'utf8')
  assert.equal(manifest.replace(/^(#.*\n)+/, ''), stdout)
})

test('the chart rejects URLs without TLS, secrets among the settings, and unknown values', async () => {
  const wrong = [
    'urls.auth=http://id.example.com',
    'settings.SECRET_KEY=a',
    'settings.PORT=1',
    'settings.WORKERS=2',
    'metrics.labels.app\\.kubernetes\\.io/name=a',
    'replica=3',
    'replicas=0',
    'dataSizeLimit=2',
  ]
  for (const value of wrong) {
    // Settings are texts. A number would be rejected for being one.
    const set = value.startsWith('settings.') ? '--set-string' : '--set'
    await assert.rejects(helm('template', chart, '--values', values, '--kube-version', '1.30', set, value), {
      stderr: /values don't meet the specifications of the schema/,
    })
  }
})

test('the certificate authority of the database is where the guide says, from a Secret or a ConfigMap', async () => {
  const guide = await readFile(join(root, 'docs/operations/kubernetes.md'), 'utf8')
  const [, mountPath, name] = /sslrootcert=(\/\S+)\/(ca\.crt)/.exec(guide) ?? []
  assert.ok(mountPath)
  const render = (...sets: string[]) =>
    helm('template', chart, '--values', values, '--kube-version', '1.30', ...sets.flatMap((set) => ['--set', set]))
  const secret = await render('databaseCa.secretName=a-ca', 'databaseCa.key=root.pem')
  assert.match(secret.stdout, new RegExp(`name: database-ca\n +mountPath: ${mountPath}\n +readOnly: true\n`))
  assert.match(secret.stdout, new RegExp(`secretName: a-ca\n +items:\n +- key: root.pem\n +path: ${name}\n`))
  const configMap = await render('databaseCa.configMapName=a-ca')
  assert.match(configMap.stdout, new RegExp(`configMap:\n +name: a-ca\n +items:\n +- key: ca.crt\n +path: ${name}\n`))
  await assert.rejects(render('databaseCa.secretName=a', 'databaseCa.configMapName=b'), {
    stderr: /values don't meet the specifications of the schema/,
  })
})

test('a Prometheus operator that selects by labels finds the pods and the alerts', async () => {
  const sets = ['metrics.podMonitor=true', 'metrics.rules=true', 'metrics.labels.release=monitoring']
  const options = ['--values', values, '--kube-version', '1.30', ...sets.flatMap((set) => ['--set', set])]
  const { stdout } = await helm('template', chart, ...options, '--show-only', 'templates/monitoring.yaml')
  const labeled = stdout.match(
    /^kind: \w+\nmetadata:\n {2}name: .*\n {2}labels:\n(?: {4}.*\n)* {4}release: monitoring\n/gm,
  )
  assert.deepEqual(
    labeled?.map((object) => object.slice(0, object.indexOf('\n'))),
    ['kind: PodMonitor', 'kind: PrometheusRule'],
  )
})

test('CLI-21 the alerts report failures, and nothing while the service works', async () => {
  await run('promtool', ['check', 'rules', join(chart, 'monitoring/alerts.yaml')])
  await run('promtool', ['test', 'rules', join(import.meta.dirname, 'monitoring/alerts.yaml')])
})

test('CLI-22 systemd accepts the unit', async () => {
  const unit = await readFile(join(root, 'deploy/countersign.service'), 'utf8')
  // Its program is installed in another folder than this.
  await writeFile(within('countersign.service'), unit.replaceAll('/opt/countersign', root))
  const { stderr } = await run('systemd-analyze', ['verify', within('countersign.service')])
  assert.equal(stderr, '')
  assert.match(unit, /^\[Unit\][^[]*^StartLimitIntervalSec=0$/m, 'systemd never gives up the start')
})
