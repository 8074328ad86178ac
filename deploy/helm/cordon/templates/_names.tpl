{{- define "cordon.name" -}}{{ .Release.Name | trunc 53 | trimSuffix "-" }}{{- end }}
{{- define "cordon.selector" -}}
app.kubernetes.io/name: cordon
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "cordon.labels" -}}
{{ include "cordon.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
{{- end }}
