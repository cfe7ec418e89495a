/** A failure that is shown until there is one: that of the first example. */

export const SAMPLE = {
  "success": false,
  "tool": "read_file",
  "error_type": "FileNotFound",
  "category": "not_found",
  "retryable": false,
  "attempts": 1,
  "waited_ms": 0,
  "duration_ms": 2,
  "seams": {
    "cli": {
      "text": "'notes/plan.md' does not exist.\nhint: list the folder 'notes'.",
      "exit_code": 66
    },
    "http": {
      "status": 404,
      "headers": {
        "content-type": "application/json",
        "x-request-id": "call-1"
      },
      "body": {
        "success": false,
        "error": {
          "code": "FILE_NOT_FOUND",
          "type": "FileNotFound",
          "message": "'notes/plan.md' does not exist.",
          "details": {
            "tool": "read_file",
            "path": "notes/plan.md",
            "suggestions": []
          },
          "retryable": false
        },
        "timestamp": "2026-02-20T10:30:00Z",
        "request_id": "call-1"
      }
    },
    "session": {
      "en": [
        {
          "event": "error.correctable",
          "content": "'notes/plan.md' does not exist.",
          "metadata": {
            "error_code": "ERR_FILE_001",
            "error_type": "FileNotFound",
            "timestamp": "2026-02-20T10:30:00Z",
            "recoverable": true,
            "recovery_strategy": "escalate_to_user",
            "severity": "error",
            "operation": "read_file"
          },
          "show_content": "'notes/plan.md' does not exist."
        }
      ],
      "zh_CN": [
        {
          "event": "error.correctable",
          "content": "'notes/plan.md' does not exist.",
          "metadata": {
            "error_code": "ERR_FILE_001",
            "error_type": "FileNotFound",
            "timestamp": "2026-02-20T10:30:00Z",
            "recoverable": true,
            "recovery_strategy": "escalate_to_user",
            "severity": "error",
            "operation": "read_file"
          },
          "show_content": "'notes/plan.md' 不存在。"
        }
      ]
    },
    "model": {
      "status": "error",
      "type": "file_operation_error",
      "error_class": "FileNotFound",
      "message": "'notes/plan.md' does not exist.",
      "path": "notes/plan.md",
      "suggestion": "List the folder 'notes', or create 'notes/plan.md' if it should exist."
    },
    "planner": {
      "code": "TOOL_EXECUTION_FAILED",
      "category": "execution",
      "message": "'notes/plan.md' does not exist.",
      "retryable": false,
      "retry_after_ms": null,
      "details": {
        "tool_name": "read_file",
        "path": "notes/plan.md"
      }
    },
    "log": [
      {
        "level": "error",
        "category": "file_operation",
        "tool": "read_file",
        "error_type": "FileNotFound",
        "message": "'notes/plan.md' does not exist.",
        "path": "notes/plan.md",
        "params": {
          "path": "notes/plan.md"
        },
        "fingerprint": "afef6aca2f3b6c96",
        "timestamp": "2026-02-20T10:30:00Z"
      }
    ],
    "jsonrpc": {
      "jsonrpc": "2.0",
      "id": "call-1",
      "result": {
        "content": [
          {
            "type": "text",
            "text": "{\"status\":\"error\",\"type\":\"file_operation_error\",\"error_class\":\"FileNotFound\",\"message\":\"'notes/plan.md' does not exist.\",\"path\":\"notes/plan.md\",\"suggestion\":\"List the folder 'notes', or create 'notes/plan.md' if it should exist.\"}"
          }
        ],
        "isError": true
      }
    },
    "telemetry": {
      "seamwise.errors": {
        "error.type": "FileNotFound",
        "seamwise.error.category": "not_found",
        "seamwise.seam": "session"
      },
      "seamwise.error.paths": {
        "seamwise.operation": "read_file",
        "seamwise.error.fingerprint": "afef6aca2f3b6c96"
      }
    }
  }
};
