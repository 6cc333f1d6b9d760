{{- define "countersign.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "countersign.selector" -}}
app.kubernetes.io/name: countersign
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "countersign.labels" -}}
{{ include "countersign.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "countersign.hosts" -}}
{{- list (.Values.urls.auth | trimPrefix "https://") (.Values.urls.base | trimPrefix "https://") (.Values.urls.business | trimPrefix "https://") | uniq | toJson }}
{{- end }}
