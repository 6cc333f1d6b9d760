import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { IncomingMessage, request, type RequestOptions } from 'node:http'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig, settings } from '../../server/platform/config/config.ts'
import { freePorts, startService } from '../../server/testing/service.ts'
import { readDockerfile } from '../image.ts'

const root = join(import.meta.dirname, '../..')
const chart = join(root, 'deploy/helm/countersign')

const Probe = Type.Object({
  httpGet: Type.Object({
    path: Type.String(),
    port: Type.Literal('http'),
    httpHeaders: Type.Tuple([Type.Object({ name: Type.Literal('Host'), value: Type.String() })]),
  }),
  periodSeconds: Type.Number(),
  // The default of Kubernetes is 3.
  failureThreshold: Type.Optional(Type.Number()),
})
const Container = Type.Object({
  image: Type.String(),
  env: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  ports: Type.Array(Type.Object({ name: Type.String(), containerPort: Type.Number() })),
  startupProbe: Probe,
  livenessProbe: Probe,
  readinessProbe: Probe,
  securityContext: Type.Unknown(),
  volumeMounts: Type.Array(Type.Object({ mountPath: Type.String() })),
})
const Deployment = Type.Object({
  kind: Type.Literal('Deployment'),
  spec: Type.Object({
    progressDeadlineSeconds: Type.Optional(Type.Number()),
    template: Type.Object({
      spec: Type.Object({
        automountServiceAccountToken: Type.Boolean(),
        securityContext: Type.Object({ runAsNonRoot: Type.Boolean() }),
        containers: Type.Tuple([Container]),
        volumes: Type.Tuple([Type.Object({ emptyDir: Type.Object({ sizeLimit: Type.String() }) })]),
      }),
    }),
  }),
})

let deployed: Static<typeof Deployment>['spec']
let pod: Static<typeof Deployment>['spec']['template']['spec']
let environment: Record<string, string>
before(async () => {
  const manifest = await readFile(join(root, 'deploy/kubernetes/countersign.yaml'), 'utf8')
  const objects: unknown[] = parseAllDocuments(manifest).map((document) => document.toJS())
  const deployment = objects.find((object) => Value.Check(Deployment, object))
  assert.ok(deployment)
  deployed = deployment.spec
  pod = deployed.template.spec
  environment = Object.fromEntries(pod.containers[0].env.map(({ name, value }) => [name, value]))
})

const secrets = {
  SECRET_KEY: 'a-secret-key-for-tests-of-32-characters',
  ADMIN_TOKEN: 'a-token-for-tests-of-at-least-32-characters',
  DATABASE_URL: 'postgres://countersign:d0a1@database/countersign',
}

test('a pod has known settings only, and starts with the three secrets', () => {
  const known: readonly string[] = settings
  for (const name of Object.keys(environment)) assert.ok(known.includes(name), name)
  const config = loadConfig({ ...environment, ...secrets })
  assert.equal(config.demo, false)
  assert.equal(config.trustProxy, 1)
  const numbers = pod.containers[0].ports.map(({ name, containerPort }) => [name, String(containerPort)])
  assert.deepEqual(Object.fromEntries(numbers), { http: environment['PORT'], metrics: environment['METRICS_PORT'] })
})

test('a pod listens on every address, also in a cluster that has IPv6 alone', async () => {
  const ofImage = (await readDockerfile())
    .filter(({ word }) => word === 'ENV')
    .map(({ rest }): [string, string] => [rest.slice(0, rest.indexOf('=')), rest.slice(rest.indexOf('=') + 1)])
  const variables = { ...Object.fromEntries(ofImage), ...environment, ...secrets }
  assert.equal(loadConfig(variables).listenAddresses, undefined)
})

test('the probes of a pod succeed at its own address', async (t) => {
  const [port, metrics] = await freePorts(2)
  const ports = { PORT: String(port), METRICS_PORT: String(metrics), ALLOW_EMBEDDED: '1' }
  const service = await startService({ environment: { ...environment, ...ports }, embedded: true })
  t.after(() => service.close())
  const { startupProbe, livenessProbe, readinessProbe } = pod.containers[0]
  for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
    const [{ value: host }] = httpGet.httpHeaders
    assert.equal(await statusOf({ host: '127.0.0.1', port, path: httpGet.path, headers: { host } }), 200, httpGet.path)
  }
})

test('pods stay in the service during a failover of the database, and are not restarted for it', async () => {
  const { livenessProbe, readinessProbe } = pod.containers[0]
  const guide = await readFile(join(root, 'docs/operations/high-availability.md'), 'utf8')
  const measured = [...guide.matchAll(/ to (\d+\.\d) s \(/g)].map(([, seconds]) => Number(seconds))
  assert.equal(measured.length, 4)
  const { periodSeconds, failureThreshold = 3 } = readinessProbe
  // A managed database can take several times as long.
  assert.ok(periodSeconds * (failureThreshold - 1) > 4 * Math.max(...measured))
  assert.equal(readinessProbe.httpGet.path, '/readyz')
  assert.equal(livenessProbe.httpGet.path, '/healthz')
})

test('a rollout is not reported as failed while a pod still migrates the database', () => {
  const { periodSeconds, failureThreshold = 3 } = pod.containers[0].startupProbe
  // The default of Kubernetes is 600.
  assert.ok((deployed.progressDeadlineSeconds ?? 600) > periodSeconds * failureThreshold)
})

test('no setting of the values is one that the chart sets, which would be there twice', async () => {
  const schema = JSON.parse(await readFile(join(chart, 'values.schema.json'), 'utf8'))
  const forbidden: readonly string[] = schema.properties.settings.propertyNames.not.enum
  for (const name of [...Object.keys(environment), ...Object.keys(secrets)]) assert.ok(forbidden.includes(name), name)
})

/** Sends a request with any `Host`, which `fetch` would replace. */
async function statusOf(options: RequestOptions): Promise<number | undefined> {
  const [response] = await once(request(options).end(), 'response')
  if (!(response instanceof IncomingMessage)) throw new Error('it is no response')
  response.resume()
  return response.statusCode
}

test('a pod has no privileges, and writes to the volume of the image', async () => {
  assert.equal(pod.automountServiceAccountToken, false)
  assert.equal(pod.securityContext.runAsNonRoot, true)
  assert.deepEqual(pod.containers[0].securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  const volumes = (await readDockerfile()).filter(({ word }) => word === 'VOLUME').map(({ rest }) => rest)
  assert.deepEqual(
    pod.containers[0].volumeMounts.map(({ mountPath }) => mountPath),
    volumes,
  )
})

test('a pod has the room for backups that the chart gives it', async () => {
  const { dataSizeLimit } = parse(await readFile(join(chart, 'values.yaml'), 'utf8'))
  assert.equal(dataSizeLimit, '2Gi')
  assert.equal(pod.volumes[0].emptyDir.sizeLimit, dataSizeLimit)
})

test('the chart has the version of the product', async () => {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const { version: ofChart, appVersion } = parse(await readFile(join(chart, 'Chart.yaml'), 'utf8'))
  assert.deepEqual([ofChart, appVersion], [version, version])
  assert.ok(pod.containers[0].image.endsWith(`:${version}`))
})

test('alerts and dashboard name metrics that the service has', async () => {
  const documented = await readFile(join(root, 'docs/operations/observability.md'), 'utf8')
  for (const file of ['alerts.yaml', 'dashboard.json']) {
    const text = await readFile(join(chart, 'monitoring', file), 'utf8')
    const named = text.match(/\b(?:countersign|process)_\w+/g) ?? []
    assert.ok(named.length > 0)
    for (const name of named) assert.ok(documented.includes(`\`${name.replace(/_(bucket|count|sum)$/, '')}\``), name)
  }
})
