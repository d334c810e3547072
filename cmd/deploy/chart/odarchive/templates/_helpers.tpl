{{- define "odarchive.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{- else -}}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{- end -}}
{{- end -}}

{{- define "odarchive.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "odarchive.labels" -}}
{{ include "odarchive.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "odarchive.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- /* Whether there are workers, or may be. */ -}}
{{- define "odarchive.working" -}}
{{- if or (gt (int .Values.workers.replicas) 0) .Values.workers.autoscaling.enabled -}}true{{- end -}}
{{- end -}}

{{- /* Replicas need the token, to be let into the writer's log. */ -}}
{{- define "odarchive.authSecret" -}}
{{- if .Values.auth.existingSecret -}}{{ .Values.auth.existingSecret }}{{- else if or .Values.auth.token (gt (int .Values.replicas.replicas) 0) -}}{{ include "odarchive.fullname" . }}-auth{{- end -}}
{{- end -}}

{{- define "odarchive.natsSecret" -}}
{{ .Values.nats.existingSecret | default (printf "%s-nats" (include "odarchive.fullname" .)) }}
{{- end -}}

{{- define "odarchive.s3Secret" -}}
{{- if .Values.s3.existingSecret -}}{{ .Values.s3.existingSecret }}{{- else if .Values.s3.accessKeyID -}}{{ include "odarchive.fullname" . }}-s3{{- end -}}
{{- end -}}

{{- define "odarchive.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "odarchive.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- /* Environment of a process that reaches the object store. .root and .role */ -}}
{{- define "odarchive.env" -}}
{{- $v := .root.Values -}}
{{- if and (or $v.s3.url $v.backup.url) (ne .role "worker") (include "odarchive.s3Secret" .root) }}
- name: AWS_ACCESS_KEY_ID
  valueFrom: {secretKeyRef: {name: {{ include "odarchive.s3Secret" .root }}, key: AWS_ACCESS_KEY_ID}}
- name: AWS_SECRET_ACCESS_KEY
  valueFrom: {secretKeyRef: {name: {{ include "odarchive.s3Secret" .root }}, key: AWS_SECRET_ACCESS_KEY}}
{{- end }}
{{- end -}}

{{- define "odarchive.probes" -}}
startupProbe: # an archive that was not closed well is rebuilt from its log when it opens
  httpGet: {path: /healthz, port: http}
  periodSeconds: 10
  failureThreshold: 360
livenessProbe:
  httpGet: {path: /healthz, port: http}
  periodSeconds: 20
  timeoutSeconds: 10
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: http}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end -}}
