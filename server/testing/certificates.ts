import { webcrypto } from 'node:crypto'

/** Certificate with its private key, in PEM format. */
export type Certified = { cert: string; key: string }

/** Creates a certificate for `localhost` and 127.0.0.1, signed by itself. */
export async function createCertificate(): Promise<Certified> {
  await import('reflect-metadata')
  const { PemConverter, SubjectAlternativeNameExtension, X509CertificateGenerator } = await import('@peculiar/x509')
  const keys = await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=localhost',
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 3_600_000),
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
      ]),
    ],
  })
  const exported = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  return { cert: certificate.toString('pem'), key: PemConverter.encode(exported, 'PRIVATE KEY') }
}
