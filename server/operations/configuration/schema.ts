import { ConfigurationDocument } from '@countersign/protocol/operations/configuration'
import type { Config } from '#platform/config/config.ts'

/** Path of the JSON schema of files, on the auth host. */
export const schemaPath = '/schema/countersign-v1.json'

/** A secret in a file: where the command line finds it. */
const reference = {
  description: 'Where the secret is found: a file contains none',
  oneOf: ['fromEnv', 'fromFile'].map((name) => ({
    type: 'object',
    properties: { [name]: { type: 'string', minLength: 1 } },
    required: [name],
    additionalProperties: false,
  })),
}

/** Builds the JSON schema of files from that of the endpoint. Files name secrets by reference. */
export function fileSchema({ authUrl }: Pick<Config, 'authUrl'>): object {
  const written: unknown = JSON.parse(
    JSON.stringify(ConfigurationDocument, (_name, value: unknown) => (isSecret(value) ? reference : value)),
  )
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${authUrl.origin}${schemaPath}`,
    title: 'Countersign configuration',
    ...(typeof written === 'object' ? written : {}),
  }
}

function isSecret(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'writeOnly' in value && value.writeOnly === true
}
